/** A coupon sent to an address more than once: the page keeps its warning while a receiver may have the code. */
import { beforeEach, expect, test } from 'bun:test'
import { pretendPage, couponTerms as terms } from '../support/fake-browser.ts'
import { until } from '../support/until.ts'

const page = pretendPage(() => coupon.readAddress())
const coupon = await import('../../src/ui/coupon/state.ts')
const { notePassed, send } = await import('../../src/ui/coupon/send.ts')

const nonce = 'Anf-OSv8elgEZg1_GQowWQ'
const juana = 'juana@tienda.com'
const minted = { ...terms, nonce, status: 'minted', claimedAt: null }
const limited = () => Response.json({ code: 'rate-limited', error: 'Esperá.' }, { status: 429 })
const told = (status: string) => () => Response.json({ status, reason: 'overloaded' })
const noAnswer = () => Promise.reject(new TypeError('no connection'))

beforeEach(async () => {
  page.state.full = false
  page.state.answer = () => Response.json(minted)
  coupon.remove(nonce)
  coupon.openList()
  page.visit(`/c#${nonce}`)
  await until('the coupon', () => coupon.view.peek().step === 'shown')
})

function shown() {
  const now = coupon.view.peek()
  if (now.step !== 'shown') throw new Error('no coupon on the screen')
  return now.held
}

function sendTo(to: string, given: () => Response | Promise<Response>) {
  page.state.answer = (path) => (path.endsWith('/transfer') ? given() : Response.json(minted))
  return send(shown(), to, '')
}

const repeated = [
  ['refused', limited],
  ['not sent', told('NOT_SENT')],
] as const

test.each(repeated)('an unknown outcome stays when the repetition is %s', async (_is, given) => {
  expect(await sendTo(juana, noAnswer)).toMatchObject({ step: 'unknown' })
  const { sent } = shown()
  expect(sent).toMatchObject({ to: juana, outcome: 'unknown' })
  expect(await sendTo('Juana@tienda.com', given)).toMatchObject({ step: 'unknown' })
  expect([coupon.holdings.find(nonce)?.sent, shown().sent]).toEqual([sent, sent])
})

test('it stays for a coupon that this device does not keep', async () => {
  coupon.remove(nonce)
  page.state.answer = () => Response.json(minted)
  page.state.full = true
  coupon.openCoupon(nonce)
  await until('the coupon', () => coupon.view.peek().step === 'shown')
  await sendTo(juana, noAnswer)
  expect(await sendTo(juana, limited)).toMatchObject({ step: 'unknown' })
  expect([coupon.holdings.find(nonce), shown().sent]).toMatchObject([
    null,
    { to: juana, outcome: 'unknown' },
  ])
})

test('a refusal of another address says so, and the first receiver stays noted', async () => {
  await sendTo(juana, noAnswer)
  expect(await sendTo('otra@tienda.com', limited)).toEqual({ step: 'refused', reason: 'Esperá.' })
  expect(await sendTo('otra@tienda.com', told('NOT_SENT'))).toMatchObject({ step: 'not-sent' })
  expect(shown().sent).toMatchObject({ to: juana, outcome: 'unknown' })
  expect(coupon.holdings.find(nonce)?.sent).toMatchObject({ to: juana })
})

test('a code that a person was given stays noted, too', async () => {
  notePassed(shown(), '')
  expect(await sendTo(juana, limited)).toMatchObject({ step: 'refused' })
  expect(coupon.holdings.find(nonce)?.sent).toMatchObject({ to: '', outcome: 'unknown' })
})

test.each([
  ['SENT', 'sent', { to: juana, outcome: 'sent' }],
  ['MOVED', 'moved', null],
] as const)('%s ends the doubt about an earlier attempt', async (status, step, sent) => {
  await sendTo(juana, noAnswer)
  expect(await sendTo(juana, told(status))).toMatchObject({ step })
  const kept = coupon.holdings.find(nonce)
  if (sent) expect(kept?.sent).toMatchObject(sent)
  else expect(kept?.sent).toBeNull()
})

test.each(repeated)('a first attempt that is %s leaves no note', async (is, given) => {
  const step = is === 'refused' ? 'refused' : 'not-sent'
  expect(await sendTo(juana, given)).toMatchObject({ step })
  expect([coupon.holdings.find(nonce)?.sent, shown().sent]).toEqual([null, null])
})
