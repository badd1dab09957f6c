import { Database as Sqlite } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import {
  adoptArrival,
  arrivalWaits,
  completeArrival,
  createIncoming,
  untouched,
} from '../../src/db/arrival.ts'

const made: string[] = []
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** The data directory of an unused service that a complete arrival waits in. */
function createWaiting(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'cuponera-arrival-'))
  made.push(dataDir)
  mkdirSync(join(dataDir, 'keys'))
  writeFileSync(join(dataDir, 'keys', 'store.key'), 'old')
  createDatabase(join(dataDir, 'cuponera.db'), 'old')
  createDatabase(join(dataDir, 'relay.db'), 'old')
  writeFileSync(join(dataDir, 'relay.db-wal'), '')
  const incoming = createIncoming(dataDir)
  mkdirSync(join(incoming, 'keys'))
  writeFileSync(join(incoming, 'keys', 'store.key'), 'new')
  createDatabase(join(incoming, 'cuponera.db'), 'new')
  createDatabase(join(incoming, 'relay.db'), 'new')
  return dataDir
}

function createDatabase(path: string, name: string): void {
  const sql = new Sqlite(path)
  sql.run('CREATE TABLE facts (name TEXT)')
  sql.run('CREATE TABLE vouchers (id INTEGER)')
  sql.run('INSERT INTO facts VALUES (?)', [name])
  sql.close()
}

function nameIn(path: string): string | undefined {
  const sql = new Sqlite(path, { readonly: true })
  const row = sql.query<{ name: string }, []>('SELECT name FROM facts').get()
  sql.close()
  return row?.name
}

/** The owner of the keys, the coupons and the relay of a directory. */
function ownersIn(dataDir: string): (string | undefined)[] {
  return [
    readFileSync(join(dataDir, 'keys', 'store.key'), 'utf8'),
    nameIn(join(dataDir, 'cuponera.db')),
    nameIn(join(dataDir, 'relay.db')),
  ]
}

/** The steps of an adoption. */
function stepsOf(dataDir: string): string[] {
  const steps: string[] = []
  adoptArrival(dataDir, (step) => steps.push(step))
  return steps
}

const all = [
  'keep keys',
  'adopt keys',
  'keep relay.db-wal',
  'keep relay.db',
  'adopt relay.db',
  'keep cuponera.db',
  'adopt cuponera.db',
  'end',
]

describe('an arrival', () => {
  test('replaces keys and databases, and keeps the old ones', () => {
    const dataDir = createWaiting()
    completeArrival(dataDir)
    expect(stepsOf(dataDir)).toEqual(all)
    expect(ownersIn(dataDir)).toEqual(['new', 'new', 'new'])
    expect(existsSync(join(dataDir, 'relay.db-wal'))).toBe(false)
    const [aside = ''] = readdirSync(dataDir).filter((name) => name.startsWith('before-move-'))
    expect(ownersIn(join(dataDir, aside))).toEqual(['old', 'old', 'old'])
    expect(existsSync(join(dataDir, 'incoming'))).toBe(false)
    expect(adoptArrival(dataDir)).toBe(false)
    expect(ownersIn(dataDir)).toEqual(['new', 'new', 'new'])
  })

  test.each(all)('goes on after a crash before "%s", and after a second one there', (crash) => {
    const dataDir = createWaiting()
    completeArrival(dataDir)
    for (const _ of [1, 2]) {
      expect(() =>
        adoptArrival(dataDir, (step) => {
          if (step === crash) throw new Error('power is gone')
        }),
      ).toThrow('power is gone')
      expect(arrivalWaits(dataDir)).toBe(true)
    }
    expect(adoptArrival(dataDir)).toBe(true)
    expect(ownersIn(dataDir)).toEqual(['new', 'new', 'new'])
    const aside = readdirSync(dataDir).filter((name) => name.startsWith('before-move-'))
    expect(ownersIn(join(dataDir, aside[0] ?? ''))).toEqual(['old', 'old', 'old'])
    expect(aside).toHaveLength(1)
  })

  test.each(all.slice(0, -1))(
    'goes on after a power cut that left both names of each rename before "%s" or later',
    (first) => {
      const dataDir = createWaiting()
      completeArrival(dataDir)
      const from = all.indexOf(first)
      for (const crash of all.slice(from)) {
        const before = join(dataDir, '..', `${basename(dataDir)}-before`)
        made.push(before)
        cpSync(dataDir, before, { recursive: true })
        expect(() =>
          adoptArrival(dataDir, (step) => {
            if (step === crash) throw new Error('power is gone')
          }),
        ).toThrow('power is gone')
        // Names that a rename took away are there again.
        cpSync(before, dataDir, { recursive: true, force: false })
        rmSync(before, { recursive: true })
      }
      expect(adoptArrival(dataDir)).toBe(true)
      expect(ownersIn(dataDir)).toEqual(['new', 'new', 'new'])
      const aside = readdirSync(dataDir).filter((name) => name.startsWith('before-move-'))
      expect(ownersIn(join(dataDir, aside[0] ?? ''))).toEqual(['old', 'old', 'old'])
      expect(aside).toHaveLength(1)
      expect(existsSync(join(dataDir, 'incoming'))).toBe(false)
    },
  )

  test('that was not completed is removed, and changes nothing', () => {
    const dataDir = createWaiting()
    expect(adoptArrival(dataDir)).toBe(false)
    expect(ownersIn(dataDir)).toEqual(['old', 'old', 'old'])
    expect(existsSync(join(dataDir, 'incoming'))).toBe(false)
  })

  test('gives way to a service that was used after the file came in', () => {
    const dataDir = createWaiting()
    completeArrival(dataDir)
    const sql = new Sqlite(join(dataDir, 'cuponera.db'))
    sql.run('INSERT INTO vouchers VALUES (1)')
    sql.close()
    expect(untouched(dataDir)).toBe(false)
    expect(stepsOf(dataDir)).toEqual(['give up'])
    expect(ownersIn(dataDir)).toEqual(['old', 'old', 'old'])
    expect(existsSync(join(dataDir, 'incoming'))).toBe(false)
  })
})
