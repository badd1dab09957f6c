import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import type { Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { Subscription } from '../gateway/relays-conversation.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { createAdmission } from '../wallet/ledger/admission.ts'
import { declareTokens } from '../wallet/ledger/declare.ts'
import { type Issue, issue } from '../wallet/ledger/issue.ts'
import { nameParticipants } from '../wallet/ledger/participants.ts'
import { type Ledger, settle } from '../wallet/ledger/settle.ts'
import { startLedgerWorker } from '../wallet/ledger/worker.ts'
import type { Config } from './config.ts'
import type { Stores } from './stores.ts'

type LedgerParts = {
  config: Pick<Config, 'tokens' | 'ledgerPubkey' | 'gatewayPubkey' | 'rateLimit'>
  database: Database<Stores>
  jobs: Jobs
  signer: Signer
  verifyHash: VerifyHash
  now: Clock
  /** Milliseconds of a clock that is never set. */
  steady: () => number
  /** Queue an event of ours for every relay. */
  broadcast(tx: Stores, event: NostrEvent): Promise<void>
  /** Ask every relay from now on; the result asks them anew. */
  subscribe(subscription: Subscription): () => void
  log: Log
}

type RunningLedger = {
  /** The operator's commands, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
  /** Null where the ledger is elsewhere. */
  ledger: Ledger | null
  /**
   * For each request over HTTP: the function settles its event in the transaction that accepts it. Refuses
   * `rate-limited`.
   */
  accepting(event: NostrEvent): (tx: Stores & Locking) => Promise<void>
  stop(): Promise<void>
}

/** Put the ledger together and start its worker. Throws OperatorError when `TOKENS` does not fit its accounts. */
export async function startLedger(parts: LedgerParts): Promise<RunningLedger> {
  const { config, database, jobs, signer, verifyHash, now, log, broadcast, subscribe } = parts
  const { tokens, ledgerPubkey, gatewayPubkey, rateLimit } = config
  const others = [ledgerPubkey, gatewayPubkey].filter((key) => key !== null)
  const issuers = [...tokens.values()].map(({ issuer }) => issuer)
  await nameParticipants(database, [...issuers, ...others])
  if (ledgerPubkey !== null && ledgerPubkey !== signer.pubkey) return elsewhere
  await declareTokens(database, tokens)
  const ledger: Ledger = { signer, verifyHash, tokens, broadcast }
  const seconds = () => parts.steady() / 1000
  const admission = createAdmission({ ledger, database, seconds, rateLimit })
  const failed = (cause: unknown) => log.warn('ledger.failed', { cause })
  const work = { ledger, database, jobs, now, admission, subscribe, failed }
  const newId = () => Bun.randomUUIDv7()
  return {
    ledger,
    commands: {
      'POST /issue': (asked) => issue({ ledger, database, now, newId }, issueOf(asked)),
    },
    accepting(event) {
      const admit = admission.overHttp(event)
      return async (tx) => {
        await admit(tx)
        await settle(ledger, tx, event, now())
      }
    },
    stop: startLedgerWorker(work),
  }
}

const elsewhere: RunningLedger = {
  ledger: null,
  commands: {
    'POST /issue': async () => {
      throw new OperatorError('LEDGER_PUBKEY names another ledger: tokens are issued there')
    },
  },
  accepting: () => async () => undefined,
  stop: async () => undefined,
}

function issueOf({ token, to, amount, memo }: Record<string, unknown>): Issue {
  return {
    token: String(token),
    to: String(to),
    amount: String(amount),
    memo: typeof memo === 'string' ? memo : null,
  }
}
