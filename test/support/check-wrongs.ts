/** Damages that a check finds, for the engines to be compared. */
import { sha256Hex } from './client.ts'

const refreshed = "(SELECT id FROM vouchers WHERE phase = 'refreshed')"
const successor = '(SELECT id FROM refreshes)'
const claimed = "(SELECT id FROM vouchers WHERE phase = 'claimed')"
export const openOne = "(SELECT min(id) FROM vouchers WHERE phase = 'minted')"
export const newest = '(SELECT max(id) FROM vouchers)'

/** The sha256 of one byte, which is 1. */
export const sha256OfOne = `x'${sha256Hex(Buffer.of(1))}'`
const thirtyTwo = (digit: string) => `x'${digit.repeat(64)}'`
/** A ledger in which 1 has issued 5 ARS to 2. */
export const ledger = `
  INSERT INTO ledger_tokens VALUES ('ARS', 2, ${thirtyTwo('1')});
  INSERT INTO ledger_accounts (id, token, pubkey, issuer, balance)
    VALUES (1, 'ARS', ${thirtyTwo('1')}, 1, -5), (2, 'ARS', ${thirtyTwo('2')}, 0, 5);
  INSERT INTO ledger_movements (id, event_id, answer_id, sender, receiver, settled_at)
    VALUES (1, ${thirtyTwo('9')}, zeroblob(32), ${thirtyTwo('1')}, ${thirtyTwo('2')}, 1);
  INSERT INTO ledger_entries VALUES (1, 1, -5), (1, 2, 5);`

/** An account that was registered with a nonce. */
export const identity = `
  INSERT INTO identity_nonces VALUES (1, ${thirtyTwo('4')}, ${thirtyTwo('1')}, 1, 2);
  INSERT INTO accounts (id, uuid, name, pubkey, lud16, nonce_id, created_by, created_at)
    VALUES (1, '01942f6e-1c7a-7b6e-9d43-2f8a5c1e7b90', 'ana', ${thirtyTwo('5')},
      '{"callback":"https://wallet.example/"}', 1, ${thirtyTwo('1')}, 2);`

/** A transfer of the voucher that was swapped, in the inbox of 3. */
export const transfer = `
  INSERT INTO transfers SELECT 1, unhex(f.value), v.handle, s.handle, ${thirtyTwo('3')}, 1
    FROM refreshes x JOIN vouchers v ON v.id = x.voucher_id JOIN vouchers s ON s.id = x.id
    JOIN facts f ON f.name = 'manager';
  INSERT INTO inbox VALUES (1, ${thirtyTwo('3')}, ${thirtyTwo('4')}, 'x', 'x', '', NULL, '{}', NULL,
    NULL, ${thirtyTwo('5')}, 'x', NULL);`

/** A card that was activated with its code. */
export const card = `
  INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name, holder,
    delegation, created_at, activated_at)
    VALUES (1, 'card-1' || hex(zeroblob(15)), x'04000000000001', 1, 0, hex(zeroblob(18)), '', '', zeroblob(32), x'00', 1, 1);
  INSERT INTO card_codes (mac, card_id, chosen, created_at, used_at)
    SELECT randomblob(32), max(id), 0, 1, 2 FROM cards;`

/** A poster of the first coupon, from which a voucher was taken. */
export const poster = `
  INSERT INTO posters (id, uuid, definition_id, owner, per_person, time_zone, taken, taken_day,
      taken_that_day, created_at, updated_at)
    SELECT 1, '${'p'.repeat(36)}', id, owner, 1, 'UTC', 1, 5, 1, 1, 1 FROM definitions WHERE id = 1;
  INSERT INTO poster_takes SELECT min(id), 1, ${thirtyTwo('6')}, 5, ${thirtyTwo('7')}, x'00'
    FROM vouchers WHERE definition_id = 1 AND root_id IS NULL;`

/** A payment of 5 ARS by a card, whose start event has that id. */
export const payment = (state: string, start = thirtyTwo('8')) => `
  INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name, created_at)
    VALUES (1, '${'u'.repeat(36)}', zeroblob(7), 1, 1, '${'d'.repeat(36)}', 'd', 'n', 1);
  INSERT INTO card_scans (k1_hash, card_id, holder, form, maxima, state, created_at, expires_at)
    VALUES (zeroblob(16), 1, zeroblob(32), 'extended', '{}', 'in-flight', 1, 2);
  INSERT INTO card_payments (id, k1_hash, request, card_id, recipient, amounts, start_id, ledger,
      state, created_at, expires_at, ended_at)
    VALUES (1, zeroblob(16), zeroblob(32), 1, zeroblob(32), '{"ARS":"5"}', ${start},
      (SELECT unhex(value) FROM facts WHERE name = 'manager'), '${state}', 1, 2, ${state === 'pending' ? 'NULL' : 1});
  INSERT INTO card_spends VALUES (1, 1, zeroblob(32), 'ARS', 5, 1, 1);`

/** Damages of the database of `createPopulated`, each with the problem that a check finds once. SQL of SQLite. */
export const wrongs: [name: string, sql: string, problem: RegExp][] = [
  [
    'a counter of issued vouchers that is wrong',
    'UPDATE definitions SET issued = issued + 1 WHERE id = 1',
    /^coupon \S+: issued is 5, but the vouchers first minted are 4$/,
  ],
  [
    'a counter of redeemed vouchers that is wrong',
    'UPDATE definitions SET claimed = 0 WHERE id = 1',
    /^coupon \S+: claimed is 0, but the vouchers redeemed are 1$/,
  ],
  [
    'a counter of voided vouchers that is wrong',
    'UPDATE definitions SET voided = 2 WHERE id = 1',
    /^coupon \S+: voided is 2, but the vouchers voided are 1$/,
  ],
  [
    'an hour that says other than its vouchers',
    'UPDATE hourly SET minted = 5 WHERE definition_id = 1',
    /^coupon \S+: hour \d+ says 5 minted and 1 redeemed, but the vouchers say 4 and 1$/,
  ],
  [
    'an hour that is missing',
    'DELETE FROM hourly WHERE definition_id = 2',
    /^coupon \S+: hour \d+ says 0 minted and 0 redeemed, but the vouchers say 1 and 0$/,
  ],
  [
    'totals that are not the sums',
    'UPDATE totals SET refreshed = 7',
    /^totals: refreshed is 7, but the sum is 1$/,
  ],
  [
    'rules that are not readable',
    "PRAGMA ignore_check_constraints = ON; UPDATE revisions SET rules = '{' WHERE id = 1",
    /^integrity: CHECK constraint failed in revisions$/,
  ],
  [
    'a batch that counts a voucher too many',
    "INSERT INTO batches VALUES (1, '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4', 1, 'x', 2, 1); INSERT INTO voucher_labels SELECT min(id), 1, NULL FROM vouchers WHERE definition_id = 1 AND root_id IS NULL",
    /^batches row 1: its number of vouchers differs from its rows$/,
  ],
  [
    'a label of a successor',
    "INSERT INTO voucher_labels SELECT min(id), NULL, 'x' FROM vouchers WHERE root_id IS NOT NULL",
    /^voucher_labels row \d+: its voucher is a successor, or of another coupon than its batch$/,
  ],
  [
    'a poster that is filed under another owner',
    `${poster} UPDATE posters SET owner = zeroblob(32)`,
    /^posters row 1: it is filed under another owner than that of its coupon$/,
  ],
  [
    'a poster that counts a take too many',
    `${poster} UPDATE posters SET taken = 2`,
    /^posters row 1: it counts other takes than there are$/,
  ],
  [
    'a poster that counts a take of another day',
    `${poster} UPDATE posters SET taken_day = 6`,
    /^posters row 1: it counts other takes of its last day than there are$/,
  ],
  [
    'a take whose voucher is of another coupon',
    `${poster} UPDATE poster_takes SET id = (SELECT max(id) FROM vouchers WHERE definition_id = 2)`,
    /^poster_takes row \d+: its voucher is a successor, or of another coupon than its poster$/,
  ],
  ['totals that are gone', 'DELETE FROM totals', /^the row of totals is missing$/],
  [
    'a chain of refreshes without an end',
    `UPDATE vouchers SET phase = 'refreshed', ended_at = 1 WHERE id = ${openOne}`,
    /issued is 4, but the vouchers at the end of a chain are 3$/,
  ],
  [
    'a refreshed voucher without the record of it',
    'DELETE FROM refreshes',
    /^vouchers row 3: it is refreshed, but has no successor/,
  ],
  [
    'a successor of another definition',
    `UPDATE vouchers SET definition_id = 2 WHERE id = ${successor}`,
    /^vouchers row 3: it is refreshed, but has no successor of the same definition/,
  ],
  [
    'a successor of another chain',
    `UPDATE vouchers SET root_id = ${openOne}, phase = 'refreshed', ended_at = 1 WHERE id = ${successor}`,
    /^vouchers row 3: it is refreshed, but has no successor of the same definition/,
  ],
  [
    'a successor that no refresh made',
    `INSERT INTO vouchers (handle, definition_id, revision_id, root_id, minted_by, minted_at, phase, ended_at)
     SELECT randomblob(16), definition_id, revision_id, id, minted_by, 1, 'refreshed', 1 FROM vouchers WHERE id = 1`,
    /^vouchers row 7: it is a successor, but no refresh made it$/,
  ],
  [
    'a chain that begins in the middle of another',
    `INSERT INTO vouchers (handle, definition_id, revision_id, root_id, minted_by, minted_at)
     SELECT randomblob(16), definition_id, revision_id, id, minted_by, 1 FROM vouchers WHERE id = ${successor}`,
    /^vouchers row 7: the voucher first minted is itself a successor/,
  ],
  [
    'a redeemed voucher without redemption',
    'DELETE FROM redemptions',
    /^vouchers row 2: it is claimed, but its redemption is missing$/,
  ],
  [
    'a redemption of a voucher that can still be spent',
    `UPDATE vouchers SET phase = 'minted', ended_at = NULL WHERE id = ${claimed}`,
    /^redemptions row 1: its voucher is not claimed$/,
  ],
  [
    'a redemption filed under a stranger',
    'UPDATE redemptions SET owner = randomblob(32)',
    /^redemptions row 1: it is filed under another owner/,
  ],
  [
    'a redemption that counts for the till of another key',
    'UPDATE redemptions SET claimed_by = randomblob(32), till_id = 1',
    /^redemptions row 1: it counts for a till of another owner or key$/,
  ],
  [
    'a counter of vouchers that expire that is wrong',
    'UPDATE expiries SET open = 3',
    /^definitions row 2: 3 open vouchers expire at 4102444800, but the vouchers are 1$/,
  ],
  [
    'a counter of vouchers that expire that is missing',
    'DELETE FROM expiries',
    /^definitions row 2: 0 open vouchers expire at 4102444800, but the vouchers are 1$/,
  ],
  [
    'an hour of a till that says other than its redemptions',
    'UPDATE till_hours SET claimed = 5',
    /^till [0-9a-f]{64} 0{64}: hour \d+ says 5 redeemed, but the redemptions are 1$/,
  ],
  [
    'an hour of a till that is missing',
    'DELETE FROM till_hours',
    /^till [0-9a-f]{64} 0{64}: hour \d+ says 0 redeemed, but the redemptions are 1$/,
  ],
  [
    'the record of a refresh whose voucher can still be spent',
    `DELETE FROM vouchers WHERE id = ${successor};
     UPDATE vouchers SET phase = 'minted', ended_at = NULL WHERE id = ${refreshed}`,
    /^refreshes row 6: its voucher is not refreshed$/,
  ],
  [
    'a definition that shows the words of another',
    'UPDATE definitions SET revision_id = 1 WHERE id = 2',
    /^definitions row 2: its current revision belongs to another definition$/,
  ],
  [
    'a voucher that promises what another definition does',
    `UPDATE vouchers SET revision_id = 2 WHERE id = ${openOne}`,
    /^vouchers row 1: its revision belongs to another definition$/,
  ],
  [
    'a kill switch that reaches vouchers to come',
    `INSERT INTO kills VALUES (1, 1000, 1, 0)`,
    /^definitions row 1: its kill switch reaches beyond the newest voucher$/,
  ],
  [
    'a voucher that the kill switch passed and left open',
    `INSERT INTO kills VALUES (1, ${newest}, 1, ${openOne})`,
    /^vouchers row 1: the kill switch has passed it/,
  ],
  [
    'a reference that leads nowhere',
    'DELETE FROM revisions WHERE id = 2',
    /^definitions row 2: it points to a row of revisions that does not exist$/,
  ],
  [
    'a state that must not exist',
    `UPDATE vouchers SET ended_at = 5 WHERE id = ${openOne}`,
    /^integrity: CHECK constraint failed in vouchers$/,
  ],
  [
    'an index that is gone',
    'DROP INDEX vouchers_chain_end',
    /^the index vouchers_chain_end is missing$/,
  ],
  [
    'an outbox load that is not what waits',
    'UPDATE outbox_load SET events = 3',
    /^outbox load: events is 3, but there are 0$/,
  ],
  [
    'a request load that is not what is remembered',
    'UPDATE request_load SET rows = 2',
    /^request load: rows is 2, but there are 0$/,
  ],
  [
    'an event that is done while a relay waits for it',
    `INSERT INTO outbox (id, event_id, bytes, accepted_at, give_up_at, done_at)
       VALUES (1, zeroblob(32), 5, 1, 2, 3);
     INSERT INTO deliveries (outbox_id, relay, next_at, priority) VALUES (1, 'embedded', 1, 1)`,
    /^outbox row 1: it is done, but a relay still waits for it$/,
  ],
  [
    'an event that no relay waits for and that is not done',
    `INSERT INTO outbox (id, event_id, event, bytes, accepted_at, give_up_at)
       VALUES (1, zeroblob(32), '12345', 5, 1, 2);
     UPDATE outbox_load SET events = 1, bytes = 5`,
    /^outbox row 1: no relay waits for it, but it is not done$/,
  ],
  [
    'an event of another length',
    `INSERT INTO outbox (id, event_id, event, bytes, accepted_at, give_up_at)
       VALUES (1, zeroblob(32), 'ñ', 1, 1, 2);
     INSERT INTO deliveries (outbox_id, relay, next_at, priority) VALUES (1, 'embedded', 1, 1);
     UPDATE outbox_load SET events = 1, bytes = 1`,
    /^outbox row 1: its event has another length than it says$/,
  ],
  [
    'a picture whose bytes changed',
    `INSERT INTO pictures (id, owner, hash, type, bytes, content)
       VALUES (1, zeroblob(32), ${sha256OfOne}, 'image/png', 1, x'02')`,
    /^pictures row 1: its bytes are not those that its hash names$/,
  ],
  ['a table that is gone', 'DROP TABLE redemptions', /^the table redemptions is missing$/],
  [
    'a schema of another program',
    'PRAGMA user_version = 99',
    /^the database has schema 99, this program knows \d+$/,
  ],
  [
    'a schema of an older program',
    'PRAGMA user_version = 15',
    /^the database has schema 15, this program knows \d+: start the server once$/,
  ],
  [
    'a schema of a much older program',
    'PRAGMA user_version = 14',
    /^the database has schema 14, which Cuponera 0\.1\.0 is the last to read: start that on it once$/,
  ],
  [
    'a card that lives on beside a newer one of its tag',
    `${card} UPDATE cards SET deleted_at = 5;
     INSERT INTO cards SELECT 2, 'card-2' || hex(zeroblob(15)), cid, 2, 0, 1, design_uuid, '', '', '', 1, 0, NULL, NULL, 1, NULL, 5 FROM cards;
     UPDATE cards SET deleted_at = NULL WHERE id = 1`,
    /^cards row 1: its tag has newer keys, but it is not deleted$/,
  ],
  [
    'a card that somebody holds without having used a code',
    `${card} UPDATE card_codes SET used_at = NULL`,
    /^cards row 1: it has a holder, but none of its codes was used$/,
  ],
  [
    'a code that is left of a deleted card',
    `${card} UPDATE cards SET deleted_at = 5;
     INSERT INTO card_codes (mac, card_id, chosen, created_at) VALUES (zeroblob(32), 1, 1, 1)`,
    /^card_codes row \d+: it could still be used, but its card is deleted$/,
  ],
  [
    'a payment that is settled while the ledger did not move',
    `${payment('settled')} UPDATE card_scans SET state = 'used'`,
    /^card_payments row 1: it is settled, but the ledger did not move$/,
  ],
  [
    'a payment that is open while the ledger has moved',
    `${ledger} ${payment('pending', thirtyTwo('9'))}`,
    /^card_payments row 1: the ledger has moved, but it is not settled$/,
  ],
  [
    'a k1 that is free while its payment holds money',
    `${payment('pending')} UPDATE card_scans SET state = 'free'`,
    /^card_payments row 1: it holds money, but its k1 is free$/,
  ],
  [
    'a k1 that is taken for ever',
    `${payment('pending')} UPDATE card_scans SET k1_hash = randomblob(16)`,
    /^card_scans row 1: its k1 is taken, but no payment is under way$/,
  ],
  [
    'a k1 that is used for nothing',
    `${payment('pending')} UPDATE card_scans SET k1_hash = randomblob(16), state = 'used'`,
    /^card_scans row 1: its k1 is used, but nothing was paid with it$/,
  ],
  [
    'a reservation that the limits do not count',
    `${payment('pending')} UPDATE card_spends SET counts = 0`,
    /^card_payments row 1: the limits of its card do not count what it holds$/,
  ],
  [
    'a payment that counts for somebody else',
    `${payment('pending')} UPDATE card_spends SET holder = ${thirtyTwo('7')}`,
    /^card_payments row 1: it counts for another holder than that of its tap$/,
  ],
  [
    'a payment that the limits count otherwise',
    `${payment('pending')} UPDATE card_spends SET amount = 4`,
    /^card_payments row 1: the limits of its card do not count what it holds$/,
  ],
  [
    'a balance that is not what its entries say',
    `${ledger} UPDATE ledger_accounts SET balance = 6 WHERE id = 2`,
    /^ledger_accounts row 2: its balance is 6, but its entries sum to 5$/,
  ],
  [
    'balances that do not sum to zero',
    `${ledger} UPDATE ledger_accounts SET balance = 6 WHERE id = 2`,
    /^ledger: the balances of ARS sum to 1, not to zero$/,
  ],
  [
    'entries that do not sum to zero',
    `${ledger} UPDATE ledger_entries SET amount = 6 WHERE account_id = 2`,
    /^ledger_movements row 1: its entries do not sum to zero$/,
  ],
  [
    'an entry of somebody else',
    `${ledger} UPDATE ledger_movements SET receiver = randomblob(32)`,
    /^ledger_movements row 1: an entry is of neither its sender nor its receiver$/,
  ],
  [
    'a movement without entries',
    `${ledger} DELETE FROM ledger_entries`,
    /^ledger_movements row 1: it moved nothing$/,
  ],
  [
    'a movement that was also refused',
    `${ledger} INSERT INTO ledger_refusals VALUES (${thirtyTwo('9')}, zeroblob(32), '[]', 1)`,
    /^ledger_movements row 1: its event was also refused$/,
  ],
  [
    'an account that passes for the issuer',
    `${ledger} UPDATE ledger_accounts SET issuer = 1 WHERE id = 2`,
    /^ledger_accounts row 2: it counts as the issuer of its token and is not/,
  ],
  [
    'an account below zero that is no issuer',
    `${ledger} UPDATE ledger_accounts SET balance = -1 WHERE id = 2`,
    /^integrity: CHECK constraint failed in ledger_accounts$/,
  ],
  [
    'an account whose nonce is not burned',
    `${identity} UPDATE identity_nonces SET burned_at = NULL`,
    /^accounts row 1: the nonce it was registered with is not burned$/,
  ],
  [
    'an account whose wallet is reached in the clear',
    `${identity} UPDATE accounts SET lud16 = '{"callback":"http://wallet.example/"}'`,
    /^accounts row 1: its wallet has no https callback$/,
  ],
  [
    'an account whose name is none',
    `${identity} UPDATE accounts SET name = 'Ana'`,
    /^integrity: CHECK constraint failed in accounts$/,
  ],
  [
    'an account whose nonce is gone',
    `${identity} DELETE FROM identity_nonces`,
    /^accounts row 1: it points to a row of identity_nonces that does not exist$/,
  ],
  [
    'a transfer whose voucher became another one',
    `${transfer} UPDATE transfers SET replacement = randomblob(16)`,
    /^transfers row 1: it is of this service, but its voucher was not swapped/,
  ],
  [
    'a voucher in the inbox of somebody else',
    `${transfer} UPDATE inbox SET holder = ${thirtyTwo('6')}`,
    /^inbox row 1: it lies with another holder/,
  ],
  [
    'a transfer that is finished and under way',
    `${transfer} INSERT INTO transfer_intents (service, handle, holder, owner, sealed, next_at, created_at)
      SELECT service, handle, holder, holder, x'00', 1, 1 FROM transfers`,
    /^transfer_intents row 1: it is still under way/,
  ],
  ['a file of something else', 'PRAGMA user_version = 0', /^this is not a database of Cuponera$/],
]
