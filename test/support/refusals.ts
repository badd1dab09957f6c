import { expect } from 'bun:test'
import type { Answer } from './client.ts'
import { databaseOf } from './database.ts'
import type { TestServer } from './server.ts'

/** The details of a refusal besides its status and code. */
export type Expected = {
  reason?: string
  field?: string
  /** The answer names a time to wait. */
  retry?: true
  /** The answer says that a setup code would let the caller in. */
  setup?: true
}

/**
 * Every row of a server's database, by table; without the replay guard, the engine's own notes, and
 * the outbox, whose rows change while relays are given what waits.
 */
export async function readRows(dataDir: string): Promise<Record<string, Row[]>> {
  const rows = await databaseOf(dataDir).rows(unread)
  const { counter_sums: sums } = rows
  if (sums) rows.counter_sums = sums.filter(({ counter }) => counter !== 'outbox_load')
  return rows
}

type Row = Record<string, unknown>

const unread = [
  ...['proofs', 'state', 'outbox', 'outbox_load', 'deliveries'],
  // A worker publishes them later.
  'card_notices',
  // On PostgreSQL: the engine's work and news, and the events of the relay, which is a file elsewhere.
  ...['commits', 'nodes', 'changes', 'changes_forgotten', 'events', 'tags', 'deletions'],
]

/** Check a refusal as a whole: status, the exact fields of its body, and the headers that go with it. */
export function expectRefusal(
  answer: Answer,
  status: number,
  code: string,
  { reason, field, retry, setup }: Expected = {},
): void {
  const { error, retryAfter, ...rest } = answer.json ?? {}
  expect({ status: answer.status, ...rest }).toEqual({
    status,
    code,
    ...(reason === undefined ? {} : { reason }),
    ...(field === undefined ? {} : { field }),
    ...(setup && { setup }),
  })
  expect(error).toMatch(/^\S.*\.$/)
  expectCommonHeaders(answer)
  expect(answer.headers.has('www-authenticate')).toBe(status === 401)
  expect(answer.headers.has('allow')).toBe(status === 405)
  expect(Number.isInteger(retryAfter) && retryAfter > 0).toBe(retry === true)
  expect(answer.headers.get('retry-after')).toBe(retry ? String(retryAfter) : null)
}

/** The headers that every answer with a body carries, good or bad. */
export function expectCommonHeaders({ headers }: Pick<Answer, 'headers'>): void {
  expect({
    type: headers.get('content-type'),
    cache: headers.get('cache-control'),
    origin: headers.get('access-control-allow-origin'),
    exposed: headers.get('access-control-expose-headers'),
  }).toEqual({
    type: 'application/json; charset=utf-8',
    cache: 'no-store',
    origin: '*',
    exposed: 'Location, Retry-After, WWW-Authenticate, X-Nostr-Relays',
  })
}

/** A request that is refused and leaves every row as it was. */
export async function refuses(
  server: TestServer,
  request: () => Promise<Answer>,
  status: number,
  code: string,
  expected: Expected = {},
): Promise<Answer> {
  const before = await readRows(server.dataDir)
  const answer = await request()
  expectRefusal(answer, status, code, expected)
  expect(await readRows(server.dataDir)).toEqual(before)
  return answer
}
