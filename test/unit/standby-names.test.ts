import { expect, test } from 'bun:test'
import { enoughConnected, parseStandbyNames } from '../../src/db/postgres/standby-names.ts'

test.each([
  ['standby', ['standby'], true],
  ['Standby', ['sTANDBY'], true],
  ['one, two', ['two'], true],
  ['*', ['anybody'], true],
  ['"my one"', ['my one'], true],
  ['"a""b"', ['a"b'], true],
  ['"one, two"', ['one, two'], true],
  ['"one(two)", three', ['three'], true],
  ['ANY 2 ("one, two", three)', ['three', 'One, Two'], true],
  ['FIRST 1 (one, two)', ['two'], true],
  ['ANY 2 (one, "two")', ['one', 'two', 'three'], true],
  ['2 (*)', ['one', 'two'], true],
  ['standby', [], false],
  ['standby1', ['standby'], false],
  ['standby', ['standby1'], false],
  ['ANY 2 (one, two)', ['one', 'three'], false],
  ['2(one, two)', ['two'], false],
  ['"one, two"', ['two'], false],
  ['ANY 2 ("one, two")', ['one', 'two'], false],
])('commits with %p have enough of %p: %p', (names, connected, enough) => {
  expect(enoughConnected(parseStandbyNames(names), connected)).toBe(enough)
})
