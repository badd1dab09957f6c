import { expect, test } from 'bun:test'
import { createReadiness } from '../../src/app/readiness.ts'
import { Refusal, sentenceOf } from '../../src/base/refusal.ts'

type Parts = Parameters<typeof createReadiness>

/** The answer of the readiness of a database whose writes fail with `cause`. */
async function said(cause: unknown, database: object = {}) {
  const fake = { nodes: null, clockBehind: false, away: false, ...database }
  const transact = async () => {
    if (cause !== null) throw cause
  }
  const ready = createReadiness({ ...fake, transact } as unknown as Parts[0], { low: () => false })
  const answer = await ready().catch((refused: unknown) => refused)
  if (!(answer instanceof Refusal)) return answer
  expect(sentenceOf(answer)).toMatch(/^[A-Z].*\.$/)
  return { code: answer.code, cause: answer.detail.cause }
}

const failure = (code: string) => Object.assign(new Error('it failed'), { code })

test('a disk that takes no write is told apart from other faults', async () => {
  expect(await said(null)).toEqual([])
  for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT']) {
    expect(await said(failure(code))).toEqual({ code: 'unavailable', cause: 'disk-full' })
  }
  for (const code of ['SQLITE_IOERR_WRITE', 'SQLITE_READONLY', 'EROFS', 'EIO']) {
    expect(await said(failure(code))).toEqual({ code: 'unavailable', cause: 'disk-failed' })
  }
  for (const other of [failure('SQLITE_CONSTRAINT'), new TypeError('x'), 'text']) {
    expect(await said(other)).toBe(other)
  }
})

test('a clock that is behind, a database that is away, and a refusal of the engine keep their words', async () => {
  expect(await said(null, { clockBehind: true })).toEqual({ code: 'clock-behind' })
  const away = { code: 'unavailable', cause: 'database-away' }
  expect(await said(null, { away: true })).toEqual(away)
  const waiting = new Refusal('unavailable', {}, 'Espera a su copia.')
  expect(await said(waiting)).toEqual({ code: 'unavailable' })
})
