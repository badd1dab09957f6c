import { type PlantedFault, planted, powerCut } from './fault.ts'

const nip98 = 'src/nostr/nip98.ts'
const relayStore = 'src/relay/store.ts'
const relayContract = 'test/contract/stores.test.ts -t event'

/** Faults of signatures, sessions, the relay and the outbox. */
export const keyFaults: PlantedFault[] = [
  planted(
    'a NIP-98 event is taken twice',
    'test/http/authentication.test.ts',
    'src/session/proof-store.ts',
    'acceptedUntil)) === 1',
    'acceptedUntil)) <= 1',
  ),
  planted(
    'the replay guard forgets an event while it is still accepted',
    ['test/unit/identify.test.ts', 'test/http/authentication.test.ts'],
    'src/session/identify.ts',
    'event.created_at + limits.proofWindowSeconds',
    'event.created_at - limits.proofWindowSeconds',
  ),
  planted(
    'a NIP-98 event is taken for another body',
    'test/unit/nip98.test.ts',
    nip98,
    'payload !== undefined && payload',
    'payload === undefined && payload',
  ),
  planted(
    'a NIP-98 event is taken for another method',
    'test/unit/nip98.test.ts',
    nip98,
    "  if (method.toUpperCase() !== request.method) throw new Refusal('auth-url-mismatch')\n",
    '',
  ),
  planted(
    'a NIP-98 event is taken at another origin',
    'test/unit/nip98.test.ts',
    nip98,
    ' || !request.origins.includes(asked)',
    '',
  ),
  planted(
    'a NIP-98 event from the future is taken',
    'test/unit/nip98.test.ts',
    nip98,
    'Math.abs(event.created_at - now)',
    '(now - event.created_at)',
  ),
  planted(
    'a request does not wait for the check of its NIP-98 event',
    'test/http/crypto-thread.test.ts',
    nip98,
    '!(await verify(event))',
    '!verify(event)',
  ),
  planted(
    'a published event is queued before its check has answered',
    'test/http/crypto-thread.test.ts',
    'src/gateway/publish.ts',
    '!(await gateway.verify(event))',
    '!gateway.verify(event)',
  ),
  planted(
    'the thread finds every signature right',
    'test/unit/crypto-thread.test.ts',
    'src/crypto/tasks.ts',
    '? right : wrong',
    '? right : right',
  ),
  planted(
    'an ended session goes on in the cache',
    ['test/unit/session.test.ts', 'test/unit/session-end.test.ts'],
    'src/session/session.ts',
    'if (known) return open(known)',
    'if (known) return known',
  ),
  planted(
    'the end of all sessions ends none of a key with a cut-off',
    ['test/unit/session.test.ts', 'test/unit/session-end.test.ts'],
    'src/session/cutoffs.ts',
    'Math.max(at(pubkey), at(everyKey))',
    'byKey.get(pubkey) ?? at(everyKey)',
  ),
  planted(
    'a session that began in the second of its end goes on',
    ['test/unit/session.test.ts', 'test/unit/session-end.test.ts'],
    'src/session/session.ts',
    'if (beganAt <= cutoffs',
    'if (beganAt < cutoffs',
  ),
  planted(
    'an older version of an event replaces a newer one',
    relayContract,
    relayStore,
    "if (newer(JSON.parse(current.event) as NostrEvent, event)) return 'older'",
    "if (newer(event, event)) return 'older'",
  ),
  planted(
    'an event is deleted by another key',
    relayContract,
    relayStore,
    'if (row && event?.pubkey === request.pubkey)',
    'if (row)',
  ),
  planted(
    'a deleted event comes back',
    relayContract,
    relayStore,
    "if (await deleted(event, pubkey, d)) return 'deleted'",
    "if (event.id === '') return 'deleted'",
  ),
  {
    name: 'the relay says OK before the event is stored',
    edits: [
      {
        file: 'src/relay/relay.ts',
        find: 'return verdicts[await subscriptions.whileStored(event.id, store)]',
        replace: `setTimeout(() => void subscriptions.whileStored(event.id, store), 50)
    return verdicts.stored`,
      },
    ],
    suites: [
      powerCut,
      'test/fault/disk-faults.test.ts -t service',
      'test/relay/relay-faults.test.ts',
    ],
  },
  planted(
    'a stranger writes to a relay that is closed to him',
    'test/unit/policy.test.ts',
    'src/relay/policy.ts',
    "return authenticated.size > 0 ? 'no' : 'auth'",
    "return authenticated.size > 0 ? 'yes' : 'auth'",
  ),
  planted(
    'silence of a relay counts as a delivery',
    'test/unit/outbox.test.ts',
    'src/gateway/outbox.ts',
    "if (!answer) return 'pending'",
    "if (!answer) return 'delivered'",
  ),
  planted(
    'a rate limit of a relay is taken as final',
    'test/unit/outbox.test.ts',
    'src/gateway/outbox.ts',
    "'deleted:']",
    "'deleted:', 'rate-limited:']",
  ),
  planted(
    'the outbox tells of an event that it did not store',
    ['test/gateway/publish.test.ts', 'test/contract/stores.test.ts'],
    'src/gateway/publish.ts',
    '    const fresh = await enqueue(tx.outbox, event, targets, { now, priority })\n',
    '    const fresh = true\n',
  ),
  planted(
    'the answer of another service is not compared with the terms',
    'test/wallet/receive-elsewhere.test.ts',
    'src/wallet/transfers/swap.ts',
    '  if (!isDeepStrictEqual(promised(before), promised(after))) return null\n',
    '',
  ),
  planted(
    'a first attempt that did not leave ends the swap of another node',
    ['test/unit/swap.test.ts', 'test/contract/stores.test.ts'],
    'src/wallet/transfers/transfer-store.ts',
    "'DELETE FROM transfer_intents WHERE id = ? AND attempts = 0'",
    "'DELETE FROM transfer_intents WHERE id = ?'",
  ),
  planted(
    'a repeat of a swap is not counted before the nonce leaves',
    'test/unit/swap.test.ts',
    'src/wallet/transfers/swap.ts',
    'tx.transfers.repeatIntent(id)',
    'tx.transfers.findIntentById(id)',
  ),
  planted(
    'the answer of a swap that has ended is thrown away',
    'test/unit/swap.test.ts',
    'src/wallet/transfers/swap.ts',
    '    await tx.transfers.removeIntent(id)\n    await keep(',
    "    if (!(await tx.transfers.removeIntent(id))) return 'gone'\n    await keep(",
  ),
  planted(
    'a second attempt of a transfer has another key',
    ['test/fault/transfer-crash.test.ts', 'test/unit/swap.test.ts'],
    'src/wallet/transfers/swap.ts',
    'await transfers.refreshElsewhere(url, content)',
    'await transfers.refreshElsewhere(url, { ...content, key: transfers.newKey() })',
  ),
]
