import { type PlantedFault, planted } from './fault.ts'

const cards = 'src/wallet/cards/card-store.ts'
const scans = 'src/wallet/cards/scan-store.ts'
const pay = 'src/wallet/cards/payments/pay.ts'
const ledgerModel = 'test/unit/ledger-model.test.ts'
const contract = 'test/contract/stores.test.ts'

/** Faults of the ledger, of cards and of payments. */
export const walletFaults: PlantedFault[] = [
  planted(
    'an account goes below zero',
    contract,
    'src/wallet/ledger/store.ts',
    'AND (issuer = 1 OR balance >= ?3)',
    'AND (issuer = 1 OR ?3 IS NOT NULL)',
  ),
  planted(
    'funds are not checked before a transfer',
    ledgerModel,
    'src/wallet/ledger/settle.ts',
    'if (has < amount && tokens',
    'if (has < 0n && tokens',
  ),
  planted(
    'the receiver gets more than the sender gave',
    ledgerModel,
    'src/wallet/ledger/settle.ts',
    '      [receiver, amount],\n',
    '      [receiver, amount + 1n],\n',
  ),
  planted(
    'a start event that was settled is settled again',
    ledgerModel,
    'src/wallet/ledger/settle.ts',
    '  if (known) return known\n',
    '',
  ),
  planted(
    'an old start event is settled',
    ledgerModel,
    'src/wallet/ledger/settle.ts',
    'if (age > limits.transactionSeconds || age',
    'if (age',
  ),
  planted(
    'a tap is taken twice',
    [`${contract} -t tap`, 'test/wallet/cards-scan.test.ts'],
    cards,
    'WHERE id = ?1 AND counter < ?2 AND counter_known = 1',
    'WHERE id = ?1 AND counter <= ?2 AND counter_known = 1',
  ),
  planted(
    'a restored card is taken before its counter is confirmed',
    [`${contract} -t tap`, 'test/wallet/cards-scan.test.ts'],
    cards,
    'AND counter < ?2 AND counter_known = 1',
    'AND counter < ?2',
  ),
  planted(
    'the MAC of a tap is not verified',
    'test/wallet/cards-scan.test.ts',
    'src/wallet/cards/read-tap.ts',
    "  if (!tapIsGenuine(tap, picc, k2)) throw new Refusal('tap-invalid')\n",
    '',
  ),
  planted(
    'a refused operation gives its tap back',
    'test/wallet/cards-scan.test.ts',
    'src/wallet/cards/taps/scan.ts',
    'first: tap.count }, async (tx) => {\n    const card',
    'first: undefined }, async (tx) => {\n    await tap.count(tx as never)\n    const card',
  ),
  planted(
    'a k1 pays twice',
    `${contract} -t k1`,
    scans,
    "WHERE id = ? AND state = 'free' AND expires_at > ?",
    'WHERE id = ? AND expires_at > ?',
  ),
  planted(
    'a k1 pays after its time',
    `${contract} -t k1`,
    scans,
    "AND state = 'free' AND expires_at > ?",
    "AND state = 'free' AND ? > 0",
  ),
  planted(
    'the limit of a card does not count earlier payments',
    'test/wallet/pay.test.ts',
    pay,
    'if (before + amount > row.amount)',
    'if (amount > row.amount)',
  ),
  planted(
    'a repeated payment is a new one',
    'test/wallet/pay.test.ts',
    pay,
    '    if (known) return known\n',
    '',
  ),
  planted(
    'an invoice is paid twice',
    'test/wallet/pay.test.ts -t invoice',
    pay,
    'if (await tx.payments.invoiceTaken(order.invoice.paymentHash))',
    "if (order.invoice.paymentHash === '')",
  ),
  planted(
    'a card pays from the account of its new holder with a tap of before',
    'test/wallet/pay.test.ts',
    pay,
    "  if (card.holder !== scan.holder) throw new Refusal('holder-changed')\n",
    '',
  ),
  planted(
    'a card pays to a key that its holder does not trust',
    'test/wallet/pay.test.ts -t trust',
    pay,
    'if (!(await tx.holders.trusts(card.holder, order.recipient))) {',
    'if (!card.holder) {',
  ),
  planted(
    'an attempt at a code is not counted for its key',
    'test/unit/code-tries.test.ts',
    'src/wallet/cards/code-tries.ts',
    'new SharedGuessCounter([ofAddress, ofKey, ofAll], parts)',
    'new SharedGuessCounter([ofAddress, ofAll], parts)',
  ),
]
