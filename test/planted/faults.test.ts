/** The planted faults of `npm run planted` still fit the source. The command shows that the suites notice them. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { faults, plant } from './faults.ts'

const project = join(import.meta.dir, '../..')
const read = (file: string) => readFileSync(join(project, file), 'utf8')

test('each planted fault changes a text that is in the source once, and names suites that are there', () => {
  for (const fault of faults) {
    for (const [file, text] of plant(fault, read)) expect(text).not.toBe(read(file))
    for (const suite of fault.suites) {
      expect(existsSync(join(project, suite.split(' ')[0] ?? ''))).toBeTrue()
    }
  }
  const names = faults.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

test('a text that has changed is told by the name of its fault', () => {
  const [fault] = faults
  expect(() => fault && plant(fault, () => 'something else')).toThrow(/is 0 times in/)
})
