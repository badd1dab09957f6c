import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { checkDatabase, noPause } from '../../src/db/check.ts'
import { copyDirectory, createPopulated, damage, runCommand } from '../support/cli.ts'
import { sha256Hex } from '../support/client.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

let sound: string

beforeAll(async () => {
  sound = (await createPopulated()).dataDir
})
afterAll(cleanUp)

async function checkAfter(sql: string) {
  const dataDir = copyDirectory(sound)
  damage(dataDir, sql)
  return checkDatabase(join(dataDir, 'cuponera.db'), noPause)
}

const refreshed = "(SELECT id FROM vouchers WHERE phase = 'refreshed')"
const successor = '(SELECT id FROM refreshes)'
const claimed = "(SELECT id FROM vouchers WHERE phase = 'claimed')"
const openOne = "(SELECT min(id) FROM vouchers WHERE phase = 'minted')"
const newest = '(SELECT max(id) FROM vouchers)'

/** The sha256 of one byte, which is 1. */
const sha256OfOne = `x'${sha256Hex(Buffer.of(1))}'`
const thirtyTwo = (digit: string) => `x'${digit.repeat(64)}'`
/** A ledger in which 1 has issued 5 ARS to 2. */
const ledger = `
  INSERT INTO ledger_tokens VALUES ('ARS', 2, ${thirtyTwo('1')});
  INSERT INTO ledger_accounts (id, token, pubkey, issuer, balance)
    VALUES (1, 'ARS', ${thirtyTwo('1')}, 1, -5), (2, 'ARS', ${thirtyTwo('2')}, 0, 5);
  INSERT INTO ledger_movements (id, event_id, answer_id, sender, receiver, settled_at)
    VALUES (1, ${thirtyTwo('9')}, zeroblob(32), ${thirtyTwo('1')}, ${thirtyTwo('2')}, 1);
  INSERT INTO ledger_entries VALUES (1, 1, -5), (1, 2, 5);`

/** An account that was registered with a nonce. */
const identity = `
  INSERT INTO identity_nonces VALUES (1, ${thirtyTwo('4')}, ${thirtyTwo('1')}, 1, 2);
  INSERT INTO accounts (id, uuid, name, pubkey, lud16, nonce_id, created_by, created_at)
    VALUES (1, '01942f6e-1c7a-7b6e-9d43-2f8a5c1e7b90', 'ana', ${thirtyTwo('5')},
      '{"callback":"https://wallet.example/"}', 1, ${thirtyTwo('1')}, 2);`

/** A transfer of the voucher that was swapped, in the inbox of 3. */
const transfer = `
  INSERT INTO transfers SELECT 1, unhex(f.value), v.handle, s.handle, ${thirtyTwo('3')}, 1
    FROM refreshes x JOIN vouchers v ON v.id = x.voucher_id JOIN vouchers s ON s.id = x.id
    JOIN facts f ON f.name = 'manager';
  INSERT INTO inbox VALUES (1, ${thirtyTwo('3')}, ${thirtyTwo('4')}, 'x', 'x', '', NULL, '{}', NULL,
    NULL, ${thirtyTwo('5')}, 'x', NULL);`

/** A card that was activated with its code. */
const card = `
  INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name, holder,
    delegation, created_at, activated_at)
    VALUES (1, 'card-1' || hex(zeroblob(15)), x'04000000000001', 1, 0, hex(zeroblob(18)), '', '', zeroblob(32), x'00', 1, 1);
  INSERT INTO card_codes (mac, card_id, chosen, created_at, used_at)
    SELECT randomblob(32), max(id), 0, 1, 2 FROM cards;`

/** A poster of the first coupon, from which a voucher was taken. */
const poster = `
  INSERT INTO posters (id, uuid, definition_id, owner, per_person, time_zone, taken, taken_day,
      taken_that_day, created_at, updated_at)
    SELECT 1, '${'p'.repeat(36)}', id, owner, 1, 'UTC', 1, 5, 1, 1, 1 FROM definitions WHERE id = 1;
  INSERT INTO poster_takes SELECT min(id), 1, ${thirtyTwo('6')}, 5, ${thirtyTwo('7')}, x'00'
    FROM vouchers WHERE definition_id = 1 AND root_id IS NULL;`

/** A payment of 5 ARS by a card, whose start event has that id. */
const payment = (state: string, start = thirtyTwo('8')) => `
  INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name, created_at)
    VALUES (1, '${'u'.repeat(36)}', zeroblob(7), 1, 1, '${'d'.repeat(36)}', 'd', 'n', 1);
  INSERT INTO card_scans (k1_hash, card_id, holder, form, maxima, state, created_at, expires_at)
    VALUES (zeroblob(16), 1, zeroblob(32), 'extended', '{}', 'in-flight', 1, 2);
  INSERT INTO card_payments (id, k1_hash, request, card_id, recipient, amounts, start_id, ledger,
      state, created_at, expires_at, ended_at)
    VALUES (1, zeroblob(16), zeroblob(32), 1, zeroblob(32), '{"ARS":"5"}', ${start},
      (SELECT unhex(value) FROM facts WHERE name = 'manager'), '${state}', 1, 2, ${state === 'pending' ? 'NULL' : 1});
  INSERT INTO card_spends VALUES (1, 1, zeroblob(32), 'ARS', 5, 1, 1);`

describe('the check finds', () => {
  const wrongs: [name: string, sql: string, problem: RegExp][] = [
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
  test.each(wrongs)('%s', async (_, sql, problem) => {
    const { problems, found } = await checkAfter(sql)
    expect(problems.filter((line) => problem.test(line))).toHaveLength(1)
    expect(found).toBe(problems.length)
  })

  test('nothing in a sound file', async () => {
    const { problems, rows } = await checkDatabase(join(sound, 'cuponera.db'), noPause)
    expect(problems).toEqual([])
    const found = { definitions: 2, vouchers: 6, refreshes: 1, redemptions: 1, outbox: 0 }
    expect(rows).toMatchObject(found)
  })

  test('nothing where vouchers beyond a kill switch wait to be marked', async () => {
    const { problems } = await checkAfter(
      `INSERT INTO kills VALUES (1, ${newest}, 1, 0);
       UPDATE definitions SET voided = voided + 2 WHERE id = 1;
       UPDATE totals SET voided = voided + 2`,
    )
    expect(problems).toEqual([])
  })

  test('the one picture among many that changed, beyond the first slice', async () => {
    const { problems } = await checkAfter(
      `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids
         WHERE id <= ${limits.checkSlicePictures})
       INSERT INTO pictures (id, owner, hash, type, bytes, content)
         SELECT id, randomblob(32), ${sha256OfOne}, 'image/png', 1, x'01' FROM ids;
       UPDATE pictures SET content = x'02' WHERE id = (SELECT max(id) FROM pictures)`,
    )
    expect(problems).toHaveLength(1)
    expect(problems[0]).toStartWith(`pictures row ${limits.checkSlicePictures + 1}: `)
  })

  test('nothing in a ledger whose entries agree', async () => {
    const { problems, rows } = await checkAfter(ledger)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ ledger_accounts: 2, ledger_movements: 1 })
  })

  test('nothing in an account and its nonce', async () => {
    const { problems, rows } = await checkAfter(identity)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ accounts: 1, identity_nonces: 1 })
  })

  test('nothing in a transfer that came to its end', async () => {
    const { problems, rows } = await checkAfter(transfer)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ transfers: 1, inbox: 1, transfer_intents: 0 })
  })

  test('nothing in a poster and what was taken from it', async () => {
    const { problems, rows } = await checkAfter(poster)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ posters: 1, poster_takes: 1 })
  })

  test('nothing in a card that somebody activated', async () => {
    const { problems, rows } = await checkAfter(card)
    expect(problems).toEqual([])
    expect(rows).toMatchObject({ cards: 1, card_codes: 1 })
  })

  test('nothing in a payment that waits for its ledger', async () => {
    expect((await checkAfter(payment('pending'))).problems).toEqual([])
  })

  test('nothing where maxUses was lowered below what was minted', async () => {
    const { problems } = await checkAfter('UPDATE definitions SET max_uses = 1')
    expect(problems).toEqual([])
  })

  test('one bad row among many slices, with gaps between their ids', async () => {
    const rows = limits.checkSliceRows * 2 + 100
    const { problems, rows: seen } = await checkAfter(
      `INSERT INTO vouchers (id, handle, definition_id, revision_id, minted_by, minted_at, phase, ended_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
         SELECT 1000 + i * 7, randomblob(16), 1, CASE i WHEN ${rows - 5} THEN 2 ELSE 1 END, randomblob(32), 1, 'voided', 1 FROM n;
       UPDATE definitions SET issued = issued + ${rows}, voided = voided + ${rows} WHERE id = 1;
       UPDATE totals SET issued = issued + ${rows}, voided = voided + ${rows};
       INSERT INTO hourly VALUES (1, 0, ${rows}, 0)`,
    )
    // The foreign key says so too, without naming the row.
    expect(problems).toHaveLength(2)
    expect(problems).toContain(
      `vouchers row ${1000 + (rows - 5) * 7}: its revision belongs to another definition`,
    )
    expect(seen.vouchers).toBe(6 + rows)
  })

  test('thousands of problems, and lists a hundred', async () => {
    const { problems, found } = await checkAfter(
      `INSERT INTO redemptions (voucher_id, owner)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         SELECT 1000 + i, randomblob(32) FROM n`,
    )
    expect(found).toBe(3000)
    expect(problems).toHaveLength(limits.checkProblemsMax)
  })

  test('bytes that were overwritten', async () => {
    const dataDir = copyDirectory(sound)
    const path = join(dataDir, 'cuponera.db')
    const file = openSync(path, 'r+')
    writeSync(file, new Uint8Array(statSync(path).size - 4096).fill(0x5a), 0, undefined, 4096)
    const { found } = await checkDatabase(path, noPause)
    expect(found).toBeGreaterThan(0)
  })

  test('a file that is no database', async () => {
    const dataDir = copyDirectory(sound)
    const path = join(dataDir, 'cuponera.db')
    writeFileSync(path, 'nothing of the kind'.repeat(500))
    const { problems } = await checkDatabase(path, noPause)
    expect(problems).toEqual(['the file is damaged and cannot be read on: file is not a database'])
  })
})

describe('cuponera check', () => {
  test('verifies a stopped database by itself', async () => {
    const { code, stdout, stderr } = await runCommand(['check'], { dataDir: sound })
    expect(stderr).toBe('')
    expect(stdout).toMatch(
      /^no problems: 2 definitions, 6 vouchers, 1 refreshes, 1 redemptions, in [\d.]+ s\n$/,
    )
    expect(code).toBe(0)
  })

  test('has a running server verify its own', async () => {
    const server = await startServer({ dataDir: copyDirectory(sound) })
    const { code, stdout } = await runCommand(['check'], server)
    expect(stdout).toStartWith('no problems: 2 definitions, 6 vouchers')
    expect(code).toBe(0)
    expect(server.output()).toContain('"event":"check.passed"')
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).toContain('cuponera_check_problems 0\n')
    expect(await server.stop()).toBe(0)
  })

  test.each(['stopped', 'running'])('names problems and ends with 1 (%s)', async (how) => {
    const dataDir = copyDirectory(sound)
    damage(dataDir, 'UPDATE totals SET refreshed = 7')
    const server = how === 'running' ? await startServer({ dataDir }) : null
    const { code, stdout } = await runCommand(['check'], { dataDir })
    expect(stdout).toStartWith('problem: totals: refreshed is 7, but the sum is 1\n1 problem(s): ')
    expect(code).toBe(1)
    await server?.stop()
  })
})

describe('after an unclean stop', () => {
  test('the full check runs behind the service and says that all is well', async () => {
    const dataDir = copyDirectory(sound)
    const killed = await startServer({ dataDir })
    await killed.kill()
    const server = await startServer({ dataDir })
    await lineOf(server, 'check.passed')
    expect(await gauge(server.url)).toBe(0)
    await server.stop()

    const clean = await startServer({ dataDir })
    expect(await gauge(clean.url)).toBe(-1)
    expect(clean.output()).not.toContain('check.started')
    await clean.stop()
  })

  test('the full check reports what is wrong to log and metrics, and the service goes on', async () => {
    const dataDir = copyDirectory(sound)
    damage(dataDir, 'UPDATE totals SET refreshed = 7; UPDATE state SET clean = 0')
    const server = await startServer({ dataDir })
    const line = await lineOf(server, 'check.failed')
    expect(line.problems).toEqual(['totals: refreshed is 7, but the sum is 1'])
    expect(await gauge(server.url)).toBe(1)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()
  })

  test('a stop does not wait for the end of the check', async () => {
    const dataDir = copyDirectory(sound)
    const rows = 300_000
    damage(
      dataDir,
      `INSERT INTO vouchers (handle, definition_id, revision_id, minted_by, minted_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
         SELECT randomblob(16), 1, 1, randomblob(32), 1 FROM n;
       UPDATE definitions SET issued = issued + ${rows} WHERE id = 1;
       UPDATE totals SET issued = issued + ${rows};
       UPDATE state SET clean = 0`,
    )
    const server = await startServer({ dataDir })
    await lineOf(server, 'check.started')
    await Bun.sleep(100)
    expect(await server.stop()).toBe(0)
    expect(server.output()).toContain('"event":"check.stopped"')
    expect(server.output()).not.toContain('"event":"check.passed"')
  })
})

type Logging = { output(): string }

/** The line of the log with an event, once it is there. */
async function lineOf(server: Logging, event: string) {
  const text = `"event":"${event}"`
  await logged(server, text)
  const lines = server.output().split('\n')
  return JSON.parse(lines.find((line) => line.includes(text)) ?? 'null')
}

async function gauge(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^cuponera_check_problems (\S+)$/m.exec(text)?.[1])
}
