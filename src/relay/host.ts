import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Jobs } from '../db/jobs.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import { type ClientSocket, createConnections } from './connections.ts'
import type {
  EventVersion,
  Fault,
  FromRelay,
  Peer,
  RelaySettings,
  ToRelay,
  Verdict,
} from './messages.ts'

/** The embedded relay. It runs in its own thread, so that its traffic never delays a claim. */
export type RelayHost = {
  /** False while its thread is restarted. */
  ready(): boolean
  /** Call `listener` each time that the thread begins anew: at the start, after a restart, or when it missed events. */
  onUp(listener: () => void): void
  open(socket: ClientSocket, peer: Peer): number
  message(connection: number, text: string): void
  /** All texts for a connection were sent. */
  drained(connection: number): void
  close(connection: number): void
  /** Store a verified event (its JSON) and send it to subscribers. Null if it could not be stored now. */
  accept(text: string): Promise<Verdict | null>
  /**
   * Find events. `asker` is the client address of an HTTP request, null for the service itself. Refuses
   * `rate-limited`, and `overloaded` while the thread is restarted.
   */
  query(filter: Filter, asker: string | null): Promise<NostrEvent[]>
  /** True for each event that its author deleted or replaced, as far as this relay knows. Refuses `overloaded`. */
  superseded(versions: EventVersion[]): Promise<boolean[]>
  /** The service is public: strangers may no longer write. */
  expose(): void
  /** Set if the disk has little room. Clients cannot store events then. */
  setDiskLow(low: boolean): void
  /** Close the relay's database cleanly and end its thread. */
  stop(): Promise<void>
}

/** Callbacks of the host, its clock, and the loop that restarts the thread. */
type RelayEvents = {
  /** The thread ended unexpectedly. It is restarted after `retrySeconds`. */
  down: (retrySeconds: number) => void
  fault: (fault: Fault) => void
  /** A monotonic clock in milliseconds. */
  steadyMs: () => number
  jobs: Jobs
}

const spawnThread = () => new Worker(new URL('./relay-worker.ts', import.meta.url), { smol: true })

/**
 * Start the relay's thread, and restart it with backoff whenever it ends. A fault of the relay must not stop the
 * service, but for a disk that only a new process can use (`db/fold.ts`). Returns at once; calls wait until the thread is ready.
 */
export function startRelay(
  settings: RelaySettings,
  events: RelayEvents,
  spawn: () => Worker = spawnThread,
): RelayHost {
  // Kept here as well, because a restarted thread begins with the present values.
  let { open, diskLow } = settings
  let thread: Worker | null = null
  let stopped = false
  let failures = 0
  let serial = 0
  const accepts = new Map<number, (verdicts: (Verdict | null)[]) => void>()
  const queries = new Map<number, (events: NostrEvent[] | 'rate-limited' | null) => void>()
  const checks = new Map<number, (superseded: boolean[] | null) => void>()
  const upListeners: (() => void)[] = []
  let batch: { text: string; resolve: (verdict: Verdict | null) => void }[] = []
  const ended = Promise.withResolvers<void>()
  const post = (message: ToRelay) => thread?.postMessage(message)
  const connections = createConnections(post, events.steadyMs)

  /** Start the thread. The result resolves to the seconds until the restart when the thread has ended. */
  const begin = (): PromiseWithResolvers<number> => {
    const worker = spawn()
    const over = Promise.withResolvers<number>()
    thread = worker
    worker.onmessage = ({ data }: MessageEvent<FromRelay>) => receive(data)
    // Without a listener for `error`, a fault of the thread would end the process. The restart follows on `close`.
    worker.onerror = (event) => event.preventDefault()
    worker.addEventListener('close', () => lost(worker, over.resolve))
    post({ type: 'begin', settings: { ...settings, open, diskLow } })
    return over
  }

  const lost = (worker: Worker, restartAfter: (seconds: number) => void) => {
    if (thread !== worker) return
    thread = null
    connections.closeAll()
    // Open calls are answered, because their callers would wait for ever.
    for (const resolve of accepts.values()) resolve([])
    for (const resolve of [...queries.values(), ...checks.values()]) resolve(null)
    accepts.clear()
    queries.clear()
    checks.clear()
    if (stopped) return ended.resolve()
    const wait = Math.min(limits.relayRestartSeconds * 2 ** failures, limits.relayRestartSecondsMax)
    failures++
    events.down(wait)
    restartAfter(wait)
  }

  const receive = (message: FromRelay) => {
    switch (message.type) {
      case 'ready':
        failures = 0
        for (const listener of upListeners) listener()
        return
      case 'turn':
        connections.send(message.messages)
        return connections.handled(message.handled)
      case 'missed':
        connections.closeAll()
        for (const listener of upListeners) listener()
        return
      case 'drop':
        return connections.drop(message.connection, message.reason)
      case 'accepted':
        accepts.get(message.call)?.(JSON.parse(message.verdicts) as (Verdict | null)[])
        accepts.delete(message.call)
        return
      case 'found':
        queries.get(message.call)?.(message.events)
        queries.delete(message.call)
        return
      case 'superseded':
        checks.get(message.call)?.(message.superseded)
        checks.delete(message.call)
        return
      case 'fault':
        return events.fault(message.fault)
      case 'ended':
        return ended.resolve()
    }
  }

  /** Send the events of one turn of the event loop together: a message to a thread costs more than storing one. */
  const sendBatch = () => {
    const sent = batch
    batch = []
    const settle = (verdicts: (Verdict | null)[]) => {
      for (const [at, { resolve }] of sent.entries()) resolve(verdicts[at] ?? null)
    }
    if (thread === null) return settle([])
    const call = ++serial
    accepts.set(call, settle)
    post({ type: 'accept', call, events: `[${sent.map(({ text }) => text).join(',')}]` })
  }

  /** Ask the thread and wait for its answer. Refuses `overloaded` while it is restarted. */
  async function ask<T>(
    waiting: Map<number, (answer: T | null) => void>,
    question: (call: number) => ToRelay,
  ): Promise<T> {
    const call = ++serial
    const { promise, resolve } = Promise.withResolvers<T | null>()
    if (thread === null) resolve(null)
    else waiting.set(call, resolve)
    post(question(call))
    const answer = await promise
    if (answer === null) throw new Refusal('overloaded', { retryAfter: 1 })
    return answer
  }

  // The first thread begins now. Calls in this turn of the event loop wait for it.
  let life: PromiseWithResolvers<number> | null = begin()
  const supervisor = events.jobs.start({
    async run() {
      life ??= begin()
      const retrySeconds = await life.promise
      life = null
      return retrySeconds
    },
    failed: (cause) =>
      events.fault({ name: cause instanceof Error ? cause.name : 'unknown', code: '' }),
  })
  supervisor.wake()
  return {
    ready: () => thread !== null,
    onUp: (listener) => void upListeners.push(listener),
    open(socket, peer) {
      if (thread === null) {
        socket.close(1013, 'the relay is being started again')
        return 0
      }
      return connections.open(socket, peer)
    },
    message: connections.message,
    drained: connections.drained,
    close: connections.close,
    accept(text) {
      if (thread === null) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<Verdict | null>()
      if (batch.length === 0) setImmediate(sendBatch)
      batch.push({ text, resolve })
      return promise
    },
    async query(filter, asker) {
      const found = await ask(queries, (call) => ({ type: 'query', call, filter, asker }))
      if (found === 'rate-limited') throw new Refusal('rate-limited', { retryAfter: 1 })
      return found
    },
    superseded: (versions) => ask(checks, (call) => ({ type: 'find-superseded', call, versions })),
    expose() {
      open = false
      post({ type: 'exposed' })
    },
    setDiskLow(low) {
      diskLow = low
      post({ type: 'disk', low })
    },
    async stop() {
      stopped = true
      const supervised = supervisor.stop()
      if (thread !== null) {
        post({ type: 'end' })
        await ended.promise
        thread?.terminate()
      }
      life?.resolve(0)
      await supervised
    },
  }
}
