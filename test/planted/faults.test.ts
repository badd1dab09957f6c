/** The planted faults of `npm run planted` still fit the source. The command shows that the suites notice them. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compared, simulated } from './campaigns.ts'
import { kindOf, suitesByKind } from './fault.ts'
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
  expect([...simulated, ...compared].filter((name) => !names.includes(name))).toEqual([])
})

test('each source with its fault is still a program', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts' })
  for (const fault of faults) {
    for (const [file, text] of plant(fault, read)) {
      expect(() => transpiler.scan(text), `${fault.name} in ${file}`).not.toThrow()
    }
  }
})

test('a text that has changed is told by the name of its fault', () => {
  const [fault] = faults
  expect(() => fault && plant(fault, () => 'something else')).toThrow(/is 0 times in/)
})

test('a harness that is named for a fault has to catch it, beside the suites of the feature', () => {
  const suites = [
    'test/fault/power-cut.test.ts -t every answer',
    'test/unit/jobs.test.ts',
    'test/postgres/races.test.ts',
    'test/simulation/main.ts --seeds 5',
  ]
  expect(suites.map(kindOf)).toEqual(['power cut', 'feature', 'race on PostgreSQL', 'simulation'])
  const fault = { name: 'one', edits: [], suites: [...suites, 'test/unit/batch.test.ts'] }
  expect(suitesByKind(fault).get('feature')).toEqual([
    'test/unit/jobs.test.ts',
    'test/unit/batch.test.ts',
  ])
})
