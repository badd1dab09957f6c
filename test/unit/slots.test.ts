import { expect, jest, test } from 'bun:test'
import { OutboundError } from '../../src/outbound/fetch-public.ts'
import { createSlots, type SlotRule } from '../../src/outbound/slots.ts'

const rule: SlotRule<'host' | 'account'> = {
  takenMax: 6,
  waitingMax: 6,
  waitMs: 1000,
  of: { host: { takenMax: 3, waitingMax: 3 }, account: { takenMax: 2, waitingMax: 2 } },
}

/** Work that lasts until it is finished by name; what has begun, in order. */
function watch() {
  const inTurn = createSlots(rule)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    ask: (name: string, host: string, account: string) =>
      inTurn({ host, account }, () => {
        begun.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }).catch((cause: unknown) => (cause instanceof OutboundError ? cause.reason : cause)),
    async finish(name: string) {
      ends.get(name)?.()
      for (let turn = 0; turn < 20; turn++) await null
    },
  }
}

test('a full share makes its owner wait, and others pass those who wait for it', async () => {
  const { begun, ask, finish } = watch()
  void ask('a1', 'slow', 'a')
  void ask('a2', 'slow', 'a')
  void ask('a3', 'quick', 'a')
  void ask('b1', 'slow', 'b')
  void ask('b2', 'slow', 'b')
  void ask('c1', 'quick', 'c')
  await null
  // a3 waits for its account, b2 for its host.
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1'])
  await finish('c1')
  expect(begun).toHaveLength(4)
  await finish('a1')
  // One free place may let two continue, each in its own share.
  expect(begun.slice(4)).toEqual(['a3', 'b2'])
})

test('waiting calls continue in the order they came, as far as there is room', async () => {
  const { begun, ask, finish } = watch()
  for (const at of [1, 2, 3, 4, 5, 6, 7, 8]) void ask(`n${at}`, `h${at}`, `a${at}`)
  await null
  expect(begun).toHaveLength(6)
  await finish('n3')
  expect(begun.slice(6)).toEqual(['n7'])
  await finish('n1')
  expect(begun.slice(7)).toEqual(['n8'])
})

test('a call that fits into no line is refused as busy: of its owner, its host, or all', async () => {
  const { ask } = watch()
  for (const at of [1, 2, 3, 4]) void ask(`a${at}`, `h${at}`, 'a')
  expect(await ask('a5', 'h5', 'a')).toBe('busy')
  for (const at of [1, 2, 3, 4]) void ask(`b${at}`, 'slow', `b${at}`)
  for (const at of [5, 6]) void ask(`b${at}`, 'slow', `b${at}`)
  expect(await ask('b7', 'slow', 'b7')).toBe('busy')
})

test('a call that waited too long is refused as busy, and its place in line is free again', async () => {
  jest.useFakeTimers()
  try {
    const { begun, ask, finish } = watch()
    for (const at of [1, 2]) void ask(`a${at}`, `h${at}`, 'a')
    const late = [ask('a3', 'h3', 'a'), ask('a4', 'h4', 'a')]
    jest.advanceTimersByTime(rule.waitMs)
    expect(await Promise.all(late)).toEqual(['busy', 'busy'])
    void ask('a5', 'h5', 'a')
    await finish('a1')
    expect(begun).toEqual(['a1', 'a2', 'a5'])
  } finally {
    jest.useRealTimers()
  }
})

test('a failed call frees its place', async () => {
  const inTurn = createSlots(rule)
  const fault = new TypeError('ours')
  for (let times = 0; times < 20; times++) {
    const owners = { host: 'h', account: 'a' }
    expect(await inTurn(owners, () => Promise.reject(fault)).catch((cause) => cause)).toBe(fault)
  }
})
