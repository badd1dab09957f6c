/** After a race: every answer that left holds at every node. */
import { call } from '../../support/client.ts'
import { inLanes } from '../../support/lanes.ts'
import type { RaceAnswer, RaceRequest } from '../../support/race.ts'
import type { Facts } from './race.ts'

/** Answers that are not repeated, vouchers that are not the same everywhere, signatures that are taken again. */
export async function brokenAnswers(
  { bases, token }: Facts,
  requests: readonly RaceRequest[],
  answers: readonly RaceAnswer[],
): Promise<string[]> {
  const problems: string[] = []
  const check = (claim: string, holds: boolean, ...detail: unknown[]) => {
    if (!holds) problems.push(`${claim}: ${JSON.stringify(detail).slice(0, 300)}`)
  }
  /** Answers under a key by their requests, signed requests that were taken, and vouchers with what was answered of each. */
  const repeats = new Map<string, { request: RaceRequest; text: string }>()
  const signed = new Map<string, RaceRequest>()
  const vouchers = new Map<string, Set<string>>()
  const learn = (nonce: unknown, status?: string) => {
    if (typeof nonce !== 'string') return
    const known = vouchers.get(nonce) ?? new Set()
    if (status) known.add(status)
    vouchers.set(nonce, known)
  }
  for (const [at, { status, text }] of answers.entries()) {
    const request = requests[at] as RaceRequest
    const { path, body, headers } = request
    const { nonce } = (body ?? {}) as { nonce?: string }
    learn(nonce)
    if (status >= 500) check('an answer that nobody wanted', false, path, status, text)
    if (status >= 300) continue
    const given = JSON.parse(text)
    if (headers?.['Idempotency-Key']) {
      const name = JSON.stringify([path, body, headers])
      const same = repeats.get(name)?.text ?? text
      check('another answer under the same key', same === text, path, same, text)
      repeats.set(name, { request, text })
    }
    if (headers?.Authorization?.startsWith('Nostr ')) signed.set(headers.Authorization, request)
    if (path.endsWith('/refresh')) learn(nonce, 'refreshed')
    if (path.endsWith('/claim')) learn(nonce, 'claimed')
    if (given.status === 'ACCEPTED') learn(nonce, 'refreshed')
    if (given.mint) learn(path.split('/').at(-1), 'voided')
    learn(given.nonce)
    for (const one of given.vouchers ?? []) learn(one.nonce)
  }
  const send = (base: string, { path, method = 'POST', body, headers }: RaceRequest) =>
    call(base, path, { method, ...(body !== undefined && { body }), ...(headers && { headers }) })
  await inLanes([...repeats.values()], async ({ request, text }) => {
    for (const base of bases) {
      const again = await send(base, request)
      check('an answer is not repeated', again.text === text, request.path, again.text, text)
    }
  })
  await inLanes([...signed.values()], async (request) => {
    for (const base of bases) {
      const { status, json } = await send(base, request)
      const refused = status === 401 && json.reason === 'replay'
      check('a used signature is taken again', refused, request.path, status, json)
    }
  })
  await inLanes([...vouchers], async ([nonce, wanted]) => {
    const views = await Promise.all(
      bases.map((base) => call(base, '/api/coupons/preview', { body: { nonce } })),
    )
    const seen = new Set(views.map(({ json }) => json.status))
    check('nodes see another voucher', seen.size === 1, [...seen])
    check('a voucher is not what was answered', seen.isSupersetOf(wanted), [...seen], [...wanted])
  })
  for (const path of ['/api/coupons', '/api/coupons/redemptions?limit=50']) {
    const lists = await Promise.all(bases.map((base) => call(base, path, { token })))
    const texts = new Set(lists.map(({ text }) => text))
    check('nodes list something else', texts.size === 1, path, [...texts])
  }
  return problems
}
