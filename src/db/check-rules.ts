/** Tables that are walked row by row. */
export const tables = [
  'definitions',
  'vouchers',
  'posters',
  'poster_takes',
  'batches',
  'voucher_labels',
  'refreshes',
  'redemptions',
  'outbox',
  'accounts',
  'identity_nonces',
  'ledger_accounts',
  'ledger_movements',
  'transfers',
  'inbox',
  'transfer_intents',
  'cards',
  'card_codes',
  'card_payments',
  'card_scans',
] as const

/** Fragments of the rules that the engines write differently. */
export type CheckWords = {
  /** A table with the `key` and the `value` of each field of a JSON object whose values are texts. */
  fieldsOf(column: string): string
  /** The length of a text in bytes. */
  bytesOf(column: string): string
}

type Rule = {
  /** FROM and WHERE of the rows of `t` that break the rule. With `ofManager`, `?3` is the key of this service. */
  where: string
  says: string
  ofManager?: true
}

/** Rules for each row that the constraints of schema.sql cannot express. */
export const rowRules = (words: CheckWords): Record<(typeof tables)[number], Rule[]> => ({
  definitions: [
    {
      where:
        'FROM definitions t JOIN revisions r ON r.id = t.revision_id WHERE r.definition_id <> t.id',
      says: 'its current revision belongs to another definition',
    },
  ],
  vouchers: [
    {
      where: `FROM vouchers t JOIN revisions r ON r.id = t.revision_id
        WHERE r.definition_id <> t.definition_id`,
      says: 'its revision belongs to another definition',
    },
    {
      where: `FROM vouchers t JOIN vouchers root ON root.id = t.root_id
        WHERE (root.root_id IS NOT NULL OR root.definition_id <> t.definition_id
          OR root.revision_id <> t.revision_id)`,
      says: 'the voucher first minted is itself a successor, or of another definition or revision',
    },
    {
      where: `FROM vouchers t
        LEFT JOIN refreshes x ON x.voucher_id = t.id
        LEFT JOIN vouchers s ON s.id = x.id
        WHERE t.phase = 'refreshed' AND (s.id IS NULL OR s.definition_id <> t.definition_id
          OR s.revision_id <> t.revision_id OR s.root_id IS DISTINCT FROM coalesce(t.root_id, t.id))`,
      says: 'it is refreshed, but has no successor of the same definition, revision and chain',
    },
    {
      where: `FROM vouchers t WHERE t.root_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM refreshes x WHERE x.id = t.id)`,
      says: 'it is a successor, but no refresh made it',
    },
    {
      where: `FROM vouchers t WHERE t.phase = 'claimed'
        AND NOT EXISTS (SELECT 1 FROM redemptions x WHERE x.voucher_id = t.id)`,
      says: 'it is claimed, but its redemption is missing',
    },
    {
      where: `FROM vouchers t WHERE t.phase = 'minted' AND EXISTS (
        SELECT 1 FROM kills k WHERE k.definition_id = t.definition_id AND k.swept_voucher_id >= t.id)`,
      says: 'the kill switch has passed it, but it is not marked as voided',
    },
  ],
  posters: [
    {
      where: 'FROM posters t JOIN definitions d ON d.id = t.definition_id WHERE d.owner <> t.owner',
      says: 'it is filed under another owner than that of its coupon',
    },
    {
      where: `FROM posters t
        WHERE t.taken <> (SELECT count(*) FROM poster_takes x WHERE x.poster_id = t.id)`,
      says: 'it counts other takes than there are',
    },
    {
      where: `FROM posters t WHERE t.taken_that_day <> (
        SELECT count(*) FROM poster_takes x WHERE x.poster_id = t.id AND x.day = t.taken_day)`,
      says: 'it counts other takes of its last day than there are',
    },
  ],
  poster_takes: [
    {
      where: `FROM poster_takes t JOIN vouchers v ON v.id = t.id
        JOIN posters p ON p.id = t.poster_id
        WHERE (v.definition_id <> p.definition_id OR v.root_id IS NOT NULL)`,
      says: 'its voucher is a successor, or of another coupon than its poster',
    },
  ],
  refreshes: [
    {
      where: "FROM refreshes t JOIN vouchers v ON v.id = t.voucher_id WHERE v.phase <> 'refreshed'",
      says: 'its voucher is not refreshed',
    },
  ],
  batches: [
    {
      where: `FROM batches t
        WHERE t.issued <> (SELECT count(*) FROM voucher_labels x WHERE x.batch_id = t.id)`,
      says: 'its number of vouchers differs from its rows',
    },
  ],
  voucher_labels: [
    {
      where: `FROM voucher_labels t JOIN vouchers v ON v.id = t.id
        LEFT JOIN batches b ON b.id = t.batch_id
        WHERE (v.root_id IS NOT NULL OR b.definition_id <> v.definition_id)`,
      says: 'its voucher is a successor, or of another coupon than its batch',
    },
  ],
  redemptions: [
    {
      where: "FROM redemptions t JOIN vouchers v ON v.id = t.voucher_id WHERE v.phase <> 'claimed'",
      says: 'its voucher is not claimed',
    },
    {
      where: `FROM redemptions t JOIN vouchers v ON v.id = t.voucher_id
        JOIN definitions d ON d.id = v.definition_id WHERE d.owner <> t.owner`,
      says: 'it is filed under another owner than that of its coupon',
    },
    {
      where: `FROM redemptions t JOIN tills x ON x.id = t.till_id
        WHERE (x.owner <> t.owner OR x.pubkey <> t.claimed_by)`,
      says: 'it counts for a till of another owner or key',
    },
  ],
  accounts: [
    {
      where:
        'FROM accounts t JOIN identity_nonces n ON n.id = t.nonce_id WHERE n.burned_at IS NULL',
      says: 'the nonce it was registered with is not burned',
    },
    {
      where: `FROM accounts t WHERE t.lud16 IS NOT NULL
        AND lower(t.lud16) NOT LIKE '%"callback":"https://%'`,
      says: 'its wallet has no https callback',
    },
  ],
  // A burned nonce stays when its account is removed.
  identity_nonces: [],
  ledger_accounts: [
    {
      where: `FROM ledger_accounts t JOIN ledger_tokens k ON k.name = t.token
        WHERE t.issuer <> CASE WHEN t.pubkey = k.issuer THEN 1 ELSE 0 END`,
      says: 'it counts as the issuer of its token and is not, or is and does not count as it',
    },
  ],
  card_payments: [
    {
      where: `FROM card_payments t WHERE t.state = 'settled'
        AND t.ledger = ?3
        AND NOT EXISTS (SELECT 1 FROM ledger_movements m WHERE m.event_id = t.start_id)`,
      ofManager: true,
      says: 'it is settled, but the ledger did not move',
    },
    {
      where: `FROM card_payments t JOIN ledger_movements m ON m.event_id = t.start_id
        WHERE t.state <> 'settled'`,
      says: 'the ledger has moved, but it is not settled',
    },
    {
      where: `FROM card_payments t JOIN card_scans s ON s.k1_hash = t.k1_hash
        WHERE t.state IN ('pending', 'settled') AND s.state = 'free'`,
      says: 'it holds money, but its k1 is free',
    },
    {
      where: `FROM card_payments t WHERE t.start_id IS NOT NULL
        AND (SELECT count(*) FROM ${words.fieldsOf('t.amounts')} a JOIN card_spends x
          ON x.payment_id = t.id AND x.token = a.key AND CAST(x.amount AS TEXT) = a.value
          AND x.card_id = t.card_id
          AND x.counts = CASE WHEN t.state IN ('pending', 'settled') THEN 1 ELSE 0 END)
        <> (SELECT count(*) FROM ${words.fieldsOf('t.amounts')} a)`,
      says: 'the limits of its card do not count what it holds',
    },
    {
      where: `FROM card_payments t JOIN card_scans s ON s.k1_hash = t.k1_hash
        WHERE EXISTS (SELECT 1 FROM card_spends x WHERE x.payment_id = t.id AND x.holder <> s.holder)`,
      says: 'it counts for another holder than that of its tap',
    },
  ],
  card_scans: [
    {
      where: `FROM card_scans t WHERE t.state = 'in-flight' AND NOT EXISTS (
        SELECT 1 FROM card_payments p WHERE p.k1_hash = t.k1_hash AND p.state = 'pending')`,
      says: 'its k1 is taken, but no payment is under way',
    },
    {
      where: `FROM card_scans t WHERE t.state = 'used' AND NOT EXISTS (
        SELECT 1 FROM card_payments p WHERE p.k1_hash = t.k1_hash AND p.state = 'settled')`,
      says: 'its k1 is used, but nothing was paid with it',
    },
  ],
  cards: [
    {
      where: `FROM cards t WHERE t.deleted_at IS NULL AND EXISTS (
        SELECT 1 FROM cards n WHERE n.cid = t.cid AND n.key_version > t.key_version)`,
      says: 'its tag has newer keys, but it is not deleted',
    },
    {
      where: `FROM cards t WHERE t.holder IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM card_codes c WHERE c.card_id = t.id AND c.used_at IS NOT NULL)`,
      says: 'it has a holder, but none of its codes was used',
    },
  ],
  card_codes: [
    {
      where: `FROM card_codes t JOIN cards c ON c.id = t.card_id
        WHERE t.used_at IS NULL AND c.deleted_at IS NOT NULL`,
      says: 'it could still be used, but its card is deleted',
    },
  ],
  ledger_movements: [
    {
      where: `FROM ledger_movements t
        WHERE NOT EXISTS (SELECT 1 FROM ledger_entries e WHERE e.movement_id = t.id)`,
      says: 'it moved nothing',
    },
    {
      where: `FROM ledger_movements t WHERE EXISTS (
        SELECT 1 FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
        WHERE e.movement_id = t.id GROUP BY a.token
        HAVING count(*) <> 2 OR min(e.amount) <> -max(e.amount))`,
      says: 'its entries do not sum to zero',
    },
    {
      where: `FROM ledger_movements t WHERE EXISTS (
        SELECT 1 FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
        WHERE e.movement_id = t.id AND a.pubkey <> CASE WHEN e.amount < 0 THEN t.sender ELSE t.receiver END)`,
      says: 'an entry is of neither its sender nor its receiver',
    },
    {
      where: `FROM ledger_movements t
        WHERE EXISTS (SELECT 1 FROM ledger_refusals r WHERE r.event_id = t.event_id)`,
      says: 'its event was also refused',
    },
  ],
  transfers: [
    {
      where: `FROM transfers t
        WHERE t.service = ?3 AND NOT EXISTS (
          SELECT 1 FROM vouchers v JOIN refreshes x ON x.voucher_id = v.id
          JOIN vouchers s ON s.id = x.id WHERE v.handle = t.handle AND s.handle = t.replacement)`,
      ofManager: true,
      says: 'it is of this service, but its voucher was not swapped for the replacement',
    },
  ],
  inbox: [
    {
      where: 'FROM inbox t JOIN transfers x ON x.id = t.id WHERE x.holder <> t.holder',
      says: 'it lies with another holder than its transfer went to',
    },
  ],
  transfer_intents: [
    {
      where: `FROM transfer_intents t JOIN transfers x
        ON x.handle = t.handle AND x.service = t.service WHERE TRUE`,
      says: 'it is still under way, but its transfer is finished',
    },
  ],
  outbox: [
    {
      where: `FROM outbox t WHERE t.done_at IS NOT NULL AND EXISTS (
        SELECT 1 FROM deliveries d WHERE d.outbox_id = t.id AND d.state = 'pending')`,
      says: 'it is done, but a relay still waits for it',
    },
    {
      where: `FROM outbox t WHERE t.done_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM deliveries d WHERE d.outbox_id = t.id AND d.state = 'pending')`,
      says: 'no relay waits for it, but it is not done',
    },
    {
      where: `FROM outbox t WHERE t.event IS NOT NULL AND ${words.bytesOf('t.event')} <> t.bytes`,
      says: 'its event has another length than it says',
    },
  ],
})
