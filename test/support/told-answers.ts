/** Requests of a page without a browser, whose service answers as it is told. */
import { createAsk } from '../../src/client/ask.ts'
import { createCaller } from '../../src/client/caller.ts'
import type { OperationName } from '../../src/client/described/operations.ts'
import type { Ask } from '../../src/client/persist.ts'

/** `status` 0: no answer comes. */
export type Told = { status: number; body: Record<string, unknown>; retryAfter: number | null }

/** The answers to come, by the host that each request is given. */
const waiting = new Map<string, Promise<Told>>()
let answering: typeof fetch | null = null
let requests = 0

/** `tell` is called for each request. Its answers are judged as those of a service. */
export function newAsk(
  tell: (name: OperationName, body: unknown, key: string | undefined) => Told | Promise<Told>,
): Ask {
  return (name, body, key, how) => {
    answerRequests()
    const host = `request-${++requests}.test`
    waiting.set(host, Promise.resolve(tell(name, body, key)))
    const storage = new Map()
    const caller = createCaller({
      ...{ url: `http://${host}`, credentials: null, storage, patience: null },
    })
    const ask = createAsk({
      caller,
      describe: ({ sentence }) => sentence,
      onReached: () => undefined,
    })
    return ask(name, body, key, how)
  }
}

/** Pages of other tests replace `fetch`, too. */
function answerRequests(): void {
  if (answering !== null && globalThis.fetch === answering) return
  const others = globalThis.fetch
  const answer = async (url: string, init: RequestInit) => {
    const told = waiting.get(URL.parse(url)?.host ?? '')
    if (!told) return others(url, init)
    const { status, body, retryAfter } = await told
    if (status === 0) throw new TypeError('no connection')
    return Response.json({ ...body, ...(retryAfter !== null && { retryAfter }) }, { status })
  }
  answering = answer as typeof fetch
  globalThis.fetch = answering
}
