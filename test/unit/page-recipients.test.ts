/** The numbers that a device wrote to lately. */
import { beforeAll, expect, test } from 'bun:test'
import { type Phone, parsePhone } from '../../src/ui/hand/phone.ts'
import { type FakePage, pretendPage } from '../support/fake-browser.ts'

type Recipients = typeof import('../../src/ui/hand/recipients.ts')

let page: FakePage
let list: Recipients

beforeAll(async () => {
  page = pretendPage(() => undefined)
  page.texts.set('cuponera:recipients', '["+5491123456789",7,"x","+59899123456"]')
  list = await import('../../src/ui/hand/recipients.ts')
})

const phone = (number: string) => parsePhone(number) as Phone
const digits = () => list.recipients.value.map((one) => one.digits)

test('the list is read from the device, the newest comes first, and eight are kept', () => {
  expect(digits()).toEqual(['5491123456789', '59899123456'])
  list.rememberRecipient(phone('+598 99 123 456'))
  expect(digits()).toEqual(['59899123456', '5491123456789'])
  for (let last = 0; last < 8; last++) list.rememberRecipient(phone(`+1 415 555 010${last}`))
  expect(digits()).toHaveLength(8)
  expect(digits()[0]).toBe('14155550107')
  expect(JSON.parse(page.texts.get('cuponera:recipients') ?? '')).toHaveLength(8)
})

test('a number is removed, and the last one leaves nothing behind', () => {
  for (const one of list.recipients.value) list.forgetRecipient(one)
  expect(digits()).toEqual([])
  expect(page.texts.has('cuponera:recipients')).toBe(false)
})
