/** The transactions of the program, and the operations of the race matrix that run them. */

/** For each place in a file that begins a transaction, from top to bottom: its operations, or why it has none. */
export type Coverage = Record<string, readonly (readonly string[] | string)[]>

export const coverage: Coverage = {
  'app/keys.ts': [['pin the keys', 'pin other keys'], 'the same write as that of the other keys'],
  'app/management.ts': [['settle the setup code']],
  'app/move.ts': [['close for a move'], ['open again']],
  'app/moved-out.ts': ['only a service in a file moves by a route'],
  'app/moving.ts': [
    'the write of "close for a move", with the permission of the operation that adds a merchant',
  ],
  'app/readiness.ts': ['it writes nothing on a server'],
  'app/sessions.ts': ['it only spends a signature, as "mint with a signature" does'],
  'app/sweeps.ts': [
    [
      ...['answerSweep', 'outboxSweep', 'merchantSweep', 'pictureSweep', 'sessionSweep'],
      ...['scanSweep', 'nonceSweep', 'refusalSweep', 'requestSweep'],
    ],
  ],
  'coupons/announce.ts': [['announce', 'announce an older one'], ['withdraw']],
  'coupons/batches.ts': [['void a batch']],
  'coupons/claim.ts': [['claim', 'claim under a key', 'claim the end of a chain']],
  'coupons/define.ts': [
    ['define', 'define with a picture', 'define with an unused picture'],
    [
      ...[
        'edit the limit',
        'archive',
        'lift the limit',
        'set a limit',
        'edit to an unused picture',
      ],
      ...['edit the words', 'edit the image', 'edit the image of another coupon'],
      ...['edit the picture', 'archive a coupon that was voided'],
    ],
    ['delete a coupon', 'delete a coupon with a picture'],
  ],
  'coupons/live-routes.ts': ['it only spends a signature, as "mint with a signature" does'],
  'coupons/mint.ts': [
    [
      ...['mint', 'mint by a minter', 'mint under a key', 'mint the last ones under a key'],
      ...['mint the last of a day under a key', 'mint with a signature', 'mint without a limit'],
      ...['mint without a limit under a key', 'mint with quotas', 'mint the first voucher'],
      ...['mint another coupon with quotas', 'mint into a batch', 'mint a coupon that was voided'],
    ],
  ],
  'coupons/minters.ts': [
    'it only spends a signature, as "mint with a signature" does',
    ['add a minter', 'change a minter'],
    ['remove a minter', 'use an old signature'],
  ],
  'coupons/refresh.ts': [
    [
      ...['refresh', 'refresh under another key', 'refresh the end of a chain'],
      'refresh a voucher that is sent',
    ],
  ],
  'coupons/void.ts': [
    ['void a voucher', 'void a chain', 'void where no limit is'],
    [
      ...['kill switch', 'kill switch where no limit is', 'kill switch again'],
      'kill switch of what is sent',
    ],
    ['mark what was voided'],
  ],
  'gateway/announcements.ts': [
    [
      ...['take over an announcement', 'take over a deletion'],
      'send an announcement that a relay lacks',
    ],
  ],
  'gateway/courier.ts': [
    [
      ...['record a delivery', 'record a refusal of the other relay', 'record a failure'],
      ...['record a late delivery', 'record a late refusal', 'record an end of the connection'],
      'record a delivery to a removed relay',
    ],
    ['give up deliveries', 'give up deliveries to the other relay'],
    ['make deliveries due'],
  ],
  'gateway/publish.ts': [['publish', 'publish the announcement', 'publish an overdue event again']],
  'gateway/worker.ts': [['give up for removed relays']],
  'merchants/operator.ts': [
    ['let owners of older coupons in'],
    ['admit a guest'],
    ['dismiss a guest'],
    ['show the setup code', 'replace the setup code'],
    ['let a merchant in again'],
    ['remove the owner'],
  ],
  'merchants/roster.ts': [['add a merchant'], ['remove a merchant']],
  'merchants/setup.ts': [
    ['set up with the code', 'set up with the code as another'],
    ['type the code', 'type a wrong code'],
  ],
  'pictures/upload.ts': [['upload a picture', 'upload a picture again']],
  'posters/manage.ts': [
    ['create a poster', 'create a poster of a coupon to delete'],
    ['pause a poster', 'bound a poster'],
    ['delete a poster'],
  ],
  'posters/take.ts': [['take from a poster', 'take from a poster again']],
  'relay/relay-worker.ts': [['delete expired events']],
  'relay/relay.ts': [
    [
      ...['store an event', 'store a stored event', 'store a newer profile'],
      ...['store a profile between', 'store the next version of an expired event'],
      ...['delete events', 'delete a profile by its address'],
    ],
  ],
  'session/end.ts': [['end sessions']],
  'shops/shop.ts': [['rename the shop', 'change the logo', 'let only own tills redeem']],
  'wallet/cards/holders/holdings.ts': [
    ['tell a holder of the limits', 'tell a holder of the designs'],
  ],
  'wallet/cards/holders/worker.ts': [['publish what wallets are owed']],
  'wallet/cards/payments/pay.ts': [
    [
      ...['pay with a scan', 'pay otherwise with the same scan', 'pay with another scan'],
      ...['pay an invoice', 'pay the same invoice with another card'],
    ],
  ],
  'wallet/cards/payments/payments.ts': [['release a payment']],
  'wallet/cards/requests.ts': [
    [
      ...['initialise a card by event', 'wipe a card by event'],
      ...['activate a card', 'activate it for another'],
    ],
  ],
  'wallet/cards/tags/initialise.ts': [['use up a request that came in clear']],
  'wallet/cards/tags/link.ts': [['link a code']],
  'wallet/cards/tags/operator.ts': [
    ['initialise a card anew'],
    ['link a code as the operator'],
    ['block a card'],
    ['wipe a card', 'wipe a new card'],
  ],
  'wallet/cards/taps/scan.ts': [['tap a card'], ['ask for a pay request']],
  'wallet/consumer.ts': [
    [
      ...[
        'trust a merchant',
        'trust nobody',
        'take an ok of a ledger',
        'take an error of a ledger',
      ],
      ...['send most of a balance', 'send the rest of a balance', 'send it back'],
    ],
  ],
  'wallet/identities/nonces.ts': [['give out a nonce', 'give out a nonce that was proposed']],
  'wallet/identities/operator.ts': [['make a nonce'], ['add an identity'], ['remove an identity']],
  'wallet/identities/register.ts': [
    [
      ...['register a name', 'register with the same nonce', 'register the same name'],
      'register the same key',
    ],
  ],
  'wallet/ledger/declare.ts': [['declare a token anew', 'declare another token']],
  'wallet/ledger/issue.ts': [['issue more']],
  'wallet/ledger/participants.ts': [['name participants']],
  'wallet/ledger/worker.ts': [['publish what is owed']],
  'wallet/transfers/inbox.ts': [['throw a held voucher away']],
  'wallet/transfers/preferences.ts': [['take no vouchers']],
  'wallet/transfers/receive.ts': [
    ['receive a voucher', 'receive a voucher for another'],
    ['receive from elsewhere', 'receive from elsewhere for another'],
  ],
  'wallet/transfers/swap.ts': [
    ['repeat a swap'],
    ['repeat a swap'],
    ['end a first attempt that did not leave'],
    ['repeat a swap without an answer'],
  ],
  'wallet/transfers/worker.ts': [['make swaps due']],
}
