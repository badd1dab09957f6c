import { expect, test } from 'bun:test'
import { createTurns } from '../../src/db/turns.ts'

test('work of one key has its turns in the order of asking, also after a failure, and other keys go on', async () => {
  const inTurn = createTurns()
  const gates = ['a', 'b', 'c'].map(() => Promise.withResolvers<void>())
  const begun: string[] = []
  const work = (name: string, at: number) => async () => {
    begun.push(name)
    await gates[at]?.promise
    return name
  }
  const one = inTurn('key', work('one', 0))
  const two = inTurn('key', work('two', 1))
  const three = inTurn('key', work('three', 2))
  expect(await inTurn('other', work('other', 9))).toBe('other')
  expect(begun).toEqual(['one', 'other'])
  gates[0]?.reject(new Error('one fails'))
  await expect(one).rejects.toThrow('one fails')
  gates[2]?.resolve()
  gates[1]?.resolve()
  expect(await Promise.all([two, three])).toEqual(['two', 'three'])
  expect(begun).toEqual(['one', 'other', 'two', 'three'])
  expect(await inTurn('key', work('four', 9))).toBe('four')
})
