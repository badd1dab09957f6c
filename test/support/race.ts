/** One request of a race. */
export type RaceRequest = {
  path: string
  method?: string
  body?: unknown
  headers?: Record<string, string>
  /** The server that gets it, if it is another one than that of the race. */
  base?: string
}

export type RaceAnswer = { status: number; text: string }

type Order = { base: string; startAt: number; requests: RaceRequest[] }

/** Client processes that send at the same moment: many requests of one process race little. */
export type Racers = {
  /** Each process sends its list at once, all from the same moment on; the answers in that order. */
  race(base: string, lists: RaceRequest[][]): Promise<RaceAnswer[][]>
  stop(): Promise<void>
}

/** Long enough for an order to reach its process and for a connection to open. */
const leadMs = 25

/** Start `count` client processes. */
export function startRacers(count: number): Racers {
  const racers = Array.from({ length: count }, startRacer)
  return {
    race(base, lists) {
      if (lists.length > racers.length) throw new RangeError('more lists than processes')
      const startAt = Date.now() + leadMs
      const running = lists.map(
        (requests, at) => racers[at]?.run({ base, startAt, requests }) ?? [],
      )
      return Promise.all(running)
    },
    async stop() {
      await Promise.all(racers.map((racer) => racer.stop()))
    },
  }
}

function startRacer() {
  let waiting = Promise.withResolvers<RaceAnswer[]>()
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (answers: RaceAnswer[]) => waiting.resolve(answers),
    onExit: (_, code) => waiting.reject(new Error(`a racer ended with ${code}`)),
  })
  waiting.promise.catch(() => undefined)
  return {
    run(order: Order): Promise<RaceAnswer[]> {
      waiting = Promise.withResolvers<RaceAnswer[]>()
      child.send(order)
      return waiting.promise
    },
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

async function send(base: string, request: RaceRequest): Promise<RaceAnswer> {
  const response = await fetch(`${request.base ?? base}${request.path}`, {
    method: request.method ?? 'POST',
    headers: { 'Content-Type': 'application/json', ...request.headers },
    body: request.body === undefined ? null : JSON.stringify(request.body),
  })
  return { status: response.status, text: await response.text() }
}

if (import.meta.main) {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async ({ base, startAt, requests }: Order) => {
    // Open the connections beforehand: the race is between requests, not between handshakes.
    await Promise.all(
      requests.map(async (request) => (await fetch(`${request.base ?? base}/livez`)).text()),
    )
    while (Date.now() < startAt - 3) await Bun.sleep(1)
    while (Date.now() < startAt);
    process.send?.(await Promise.all(requests.map((request) => send(base, request))))
  })
}
