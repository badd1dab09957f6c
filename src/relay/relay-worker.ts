import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { createVerifier } from '../crypto/sign-event.ts'
import { createJobs } from '../db/jobs.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { FromRelay, RelaySettings, ToRelay, ToRunningRelay, Verdict } from './messages.ts'
import { openRelayDatabase } from './open-store.ts'
import { createPolicy } from './policy.ts'
import { createRelay, type Relay } from './relay.ts'

declare const self: Worker

type Exposure = Pick<RelaySettings, 'open' | 'diskLow'>
type Running = { relay: Relay; exposure: Exposure; end: () => Promise<void> }

let running: Running | null = null
/** Messages that came while the database was opened. */
const early: ToRunningRelay[] = []
/** Output of this turn of the event loop. It is posted at once, because each message to a thread is costly. */
let turn: { messages: (string | number)[]; handled: number[] } | null = null
let faultAt = Number.NEGATIVE_INFINITY

self.onmessage = ({ data }: MessageEvent<ToRelay>) => {
  if (data.type === 'begin') void start(data.settings)
  else if (running) handle(running, data)
  else early.push(data)
}

async function start(settings: RelaySettings): Promise<void> {
  try {
    running = await begin(settings)
    for (const message of early.splice(0)) handle(running, message)
  } catch (cause) {
    // Outside of a promise: it ends the thread, which is started again later.
    setImmediate(() => {
      throw cause
    })
  }
}

function handle({ relay, exposure, end }: Running, message: ToRunningRelay) {
  switch (message.type) {
    case 'open':
      return relay.open(message.connection, message.peer)
    case 'message':
      return relay.message(message.connection, message.text)
    case 'flushed':
      return relay.flushed(message.connection, message.chars)
    case 'close':
      return relay.close(message.connection)
    case 'accept':
      return void accept(relay, message)
    case 'query':
      return void find(relay, message)
    case 'find-superseded':
      return void findSuperseded(relay, message)
    case 'exposed':
      exposure.open = false
      return
    case 'disk':
      exposure.diskLow = message.low
      return
    case 'end':
      return void end()
  }
}

async function find(relay: Relay, message: Extract<ToRunningRelay, { type: 'query' }>) {
  const { call, filter, asker } = message
  post({ type: 'found', call, events: await orNull(relay.query(filter, asker)) })
}

async function findSuperseded(
  relay: Relay,
  { call, versions }: Extract<ToRunningRelay, { type: 'find-superseded' }>,
) {
  const superseded = await orNull(Promise.all(versions.map(relay.superseded)))
  post({ type: 'superseded', call, superseded })
}

/** The result, or null if the database cannot be read. The cause is logged. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (cause) {
    report(cause)
    return null
  }
}

async function accept(relay: Relay, { call, events }: Extract<ToRunningRelay, { type: 'accept' }>) {
  const one = async (event: NostrEvent): Promise<Verdict | null> => {
    try {
      return await relay.accept(event)
    } catch (cause) {
      report(cause)
      return null
    }
  }
  const verdicts = await Promise.all(listIn(events).map(one))
  post({ type: 'accepted', call, verdicts: JSON.stringify(verdicts) })
}

/** The events of a JSON list. Empty if it is not JSON, which a damaged database file may cause. */
function listIn(events: string): NostrEvent[] {
  try {
    return JSON.parse(events) as NostrEvent[]
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    report(cause)
    return []
  }
}

async function begin(settings: RelaySettings): Promise<Running> {
  const { database, events, isMember, close } = await openRelayDatabase(settings, report)
  const exposure: Exposure = { open: settings.open, diskLow: settings.diskLow }
  const relay = createRelay({
    database,
    events,
    // Threads share no objects, so this one opens its own engine.
    verify: createVerifier(openSchnorr()),
    policy: createPolicy({
      open: () => exposure.open,
      isMember,
      rateLimit: settings.rateLimit,
      seconds,
    }),
    now: systemClock,
    diskLow: () => exposure.diskLow,
    send: (connections, text) => thisTurn().messages.push(text, ...connections),
    drop: (connection, reason) => {
      endTurn()
      post({ type: 'drop', connection, reason })
    },
    handled: (connection, weight) => thisTurn().handled.push(connection, weight),
    missed() {
      endTurn()
      post({ type: 'missed' })
    },
    log: report,
  })
  const pruning = createJobs(database).sweep({
    failed: report,
    async step() {
      const most = limits.sweepRowsMax
      return (
        (await database.transact({ roots: ['instance'] }, (tx) =>
          tx.events.prune(systemClock(), most),
        )) === most
      )
    },
  })
  post({ type: 'ready' })
  return {
    relay,
    exposure,
    async end() {
      await pruning.stop()
      await close()
      post({ type: 'ended' })
    },
  }
}

function thisTurn() {
  if (turn === null) setImmediate(endTurn)
  turn ??= { messages: [], handled: [] }
  return turn
}

function endTurn(): void {
  const ended = turn
  turn = null
  if (ended) post({ type: 'turn', ...ended })
}

/** Log a fault, but not more often than `relayFaultSeconds`. On a full disk every event fails. */
function report(cause: unknown): void {
  if (seconds() < faultAt + limits.relayFaultSeconds) return
  faultAt = seconds()
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  post({ type: 'fault', fault: { name: cause instanceof Error ? cause.name : 'unknown', code } })
}

function seconds(): number {
  return performance.now() / 1000
}

function post(message: FromRelay): void {
  self.postMessage(message)
}
