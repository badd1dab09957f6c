import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createInFlight } from '../../src/http/in-flight.ts'
import { refusalOf } from '../support/refused.ts'

const { inFlightMax: soft, inFlightHardMax: hard, inFlightOfRouteMin: few } = limits

/** Requests of these addresses in turn, until the first is refused or there are so many. */
function fill(
  inFlight: ReturnType<typeof createInFlight>,
  addresses: readonly string[],
  most: number,
  route = '/slow',
): number {
  for (let at = 0; at < most; at++) {
    const address = addresses[at % addresses.length] ?? ''
    if (refusalOf(() => inFlight.begin(address, route)) !== null) return at
  }
  return most
}

test('while there is room no request is refused', () => {
  const inFlight = createInFlight()
  expect(fill(inFlight, ['a'], soft)).toBe(soft)
})

test('four addresses that fill the room are refused, and others are not', () => {
  const inFlight = createInFlight()
  const four = ['a', 'b', 'c', 'd']
  expect(fill(inFlight, four, hard)).toBe(soft)
  expect(fill(inFlight, ['shop'], 500, '/api/coupons/claim')).toBe(500)
  for (const address of four) {
    expect(refusalOf(() => inFlight.begin(address, '/slow'))).toEqual({ code: 'overloaded' })
  }
})

test('an address keeps a few requests of each other route when a neighbour behind it fills the room', () => {
  const inFlight = createInFlight()
  expect(fill(inFlight, ['shop'], hard)).toBe(soft)
  expect(fill(inFlight, ['shop'], 100, '/api/coupons/claim')).toBe(few)
  expect(fill(inFlight, ['shop'], 100, '/api/coupons/preview')).toBe(few)
})

test('beyond the second bound every request is refused, and finished ones make room', () => {
  const inFlight = createInFlight()
  const one = inFlight.begin('first', '/x')
  for (let at = 1; at < hard; at++) inFlight.begin(`address ${at}`, '/x')
  expect(refusalOf(() => inFlight.begin('new', '/x'))).toEqual({ code: 'overloaded' })
  one.end()
  expect(refusalOf(() => inFlight.begin('new', '/x'))).toBeNull()
})

test('running and waiting calls to other servers leave most of the room to the rest', () => {
  const places = [
    limits.nip05Slots,
    limits.imageSlots,
    limits.callbackSlots,
    limits.leavingSlots,
    limits.refreshSlots,
  ]
  const most = places.reduce((sum, { takenMax, waitingMax }) => sum + takenMax + waitingMax, 0)
  expect(most).toBeLessThan(soft * 0.7)
})

test('a request that waits for its own client does not count', () => {
  const inFlight = createInFlight()
  const waiting = Array.from({ length: soft }, () => inFlight.begin('slow', '/x'))
  for (const one of waiting) one.pause()
  expect(fill(inFlight, ['a'], soft)).toBe(soft)
  for (const one of waiting) one.resume()
  expect(refusalOf(() => inFlight.begin('a', '/x'))).toEqual({ code: 'overloaded' })
  for (const one of waiting) one.end()
  expect(refusalOf(() => inFlight.begin('a', '/y'))).toBeNull()
})
