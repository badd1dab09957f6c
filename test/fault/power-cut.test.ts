import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { onFile } from '../support/database.ts'
import { program } from '../support/program.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { Disk } from './power-cut/disk.ts'
import { recordLife, recordMove } from './power-cut/life.ts'
import { judgeLife, weakProgram } from './power-cut/rounds.ts'
import { type Change, type Recorded, Recording } from './power-cut/trace.ts'
import { whyNotTraceable } from './trace-sync.ts'

afterAll(cleanUp)

const seed = chooseSeed()
const traceable = (await whyNotTraceable()) === null && onFile
const testTraced = test.skipIf(!traceable)
const small = { steps: 12, lanes: 3, seed }

testTraced(`every answer stays true after a power cut, SEED=${seed}`, async () => {
  const life = { ...small, command: program }
  const report = await judgeLife(recordLife, life, { opened: 40, started: 1, lied: 16 })
  expect([...report.opened.problems, ...report.started.problems]).toEqual([])
  // A disk that ignores syncs loses answers, else the check would see nothing.
  const lost = Object.entries(report.lied).filter(([, one]) => one.lost > 0)
  expect(lost.map(([lie]) => lie)).toEqual(['all syncs', 'syncs of files', 'syncs of directories'])

  const { events } = report.recording
  const named = (name: string) =>
    events.findIndex((event) => event.kind === 'entry' && event.name === name)
  const syncedAfter = (from: number) => {
    const entry = events[from]
    const directory = entry?.kind === 'entry' ? entry.directory : null
    return events.findIndex(
      (event, at) => at > from && event.kind === 'sync' && event.node === directory,
    )
  }
  expect(syncedAfter(named('data'))).toBeLessThan(named('lock'))
  expect(syncedAfter(named('keys'))).toBeLessThan(named('cuponera.db'))
})

testTraced(`a service is whole after a power cut in its move, SEED=${seed}`, async () => {
  const life = { ...small, command: program, steps: 4 }
  const report = await judgeLife(recordMove, life, { opened: 30, started: 0, lied: 0 })
  expect(report.opened.problems).toEqual([])
  expect(Object.keys(report.opened.states)).toContain('move-in')
})

testTraced(`a journal that is not synced loses answers, SEED=${seed}`, async () => {
  const weak = weakProgram()
  const life = { ...small, command: weak.command }
  const report = await judgeLife(recordLife, life, { opened: 16, started: 0, lied: 0 })
  weak.remove()
  expect(report.opened.lost).toBeGreaterThan(0)
})

const old = Buffer.alloc(1024, 'o')
const fresh = Buffer.alloc(1024, 'n')
const created: Change = { kind: 'entry', directory: 0, name: 'file', node: 1 }
const other: Change = { kind: 'entry', directory: 0, name: 'other', node: 2 }
const names: Change = { kind: 'sync', node: 0 }
const write = (data: Uint8Array): Change => ({ kind: 'write', file: 1, offset: 0, data })
const content: Change = { kind: 'sync', node: 1 }
const place = (name: string) => ({ directory: 0, name })
const renamed: Change = { kind: 'rename', from: place('file'), to: place('new'), node: 1 }
const rest: Change = { kind: 'truncate', file: 1, size: 512 }

test.each([
  ['an unsynced name is there or not', [created], ['', 'file=']],
  ['a synced name stays', [created, names], ['file=']],
  [
    'a sync of the content keeps no name',
    [created, write(old), content],
    ['', `file=${'o'.repeat(1024)}`],
  ],
  [
    'a synced name keeps no content, and a new size may come without it',
    [created, names, write(Buffer.from('o'))],
    ['file=', 'file=o', 'file=?'],
  ],
  [
    'a change is torn at a sector',
    [created, names, write(old), content, write(fresh)],
    ['oo', 'on', 'no', 'nn'].map(
      (text) => `file=${[...text].map((one) => one.repeat(512)).join('')}`,
    ),
  ],
  ['a renamed file has one of its names', [created, names, renamed], ['file=', 'new=']],
  ['new names come in any order', [created, other], ['', 'file=', 'other=', 'file= other=']],
  [
    'a shorter size comes or does not',
    [created, names, write(old), content, rest],
    [`file=${'o'.repeat(1024)}`, `file=${'o'.repeat(512)}`],
  ],
])('a power cut: %s', (_, changes, wanted) => {
  expect(statesAfter(changes)).toEqual(new Set(wanted))
})

test('a sync keeps only what was written before it began', () => {
  const recording = new Recording('/')
  const disk = new Disk(recording)
  const during = { at: 2, done: 3 }
  disk.apply({ ...created, at: 0, done: 0 })
  disk.apply({ ...names, at: 1, done: 1 })
  disk.apply({ ...write(Buffer.from('o')), ...during })
  disk.apply({ ...content, at: 2, done: 4 })
  expect(seen(disk)).toEqual(new Set(['file=', 'file=o', 'file=?']))
})

const hex = (text: string) =>
  `"${[...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`
const asked = `9 recvfrom(7, ${hex('POST /x HTTP/1.1\r\nX-Step: one\r\n\r\n')}, 9, 0, NULL, NULL) = 9`
const accepted = '9 accept4(5, NULL, NULL, 0) = 7'
const sending = `9 sendto(7, ${hex('HTTP/1.1 200 OK')}, 15, 0, NULL, 0 <unfinished ...>`
const sent = '9 <... sendto resumed>) = 15'

test.each([
  [
    'is told once, whatever the thread calls next',
    [sent, '9 close(8 <unfinished ...>', '9 <... close resumed>) = 0'],
  ],
  [
    'is told if a kill came within its call',
    ['9 <... sendto resumed>) = ?', '9 +++ killed by SIGKILL +++'],
  ],
  ['is told if the trace ends within its call', ['9 +++ killed by SIGKILL +++']],
])('an answer in a trace %s', (_, lines) => {
  const path = join(newDirectory(), 'trace')
  const other = '8 fsync(4 <unfinished ...>'
  writeFileSync(path, [accepted, asked, sending, other, ...lines, ''].join('\n'))
  const recording = new Recording('/recorded')
  recording.add('first', path)
  const left = recording.events.filter(({ kind }) => kind === 'left')
  expect(left).toEqual([{ kind: 'left', step: 'one', at: 3, done: expect.any(Number) }])
})

function statesAfter(changes: readonly Change[]): Set<string> {
  const disk = new Disk(new Recording('/'))
  const events: (Recorded & Change)[] = changes.map((one, at) => ({ ...one, at, done: at }))
  for (const event of events) disk.apply(event)
  return seen(disk)
}

/** The states that many cuts leave: names and contents. */
function seen(disk: Disk): Set<string> {
  const directory = newDirectory()
  const states = Array.from({ length: 200 }, (_, number) => {
    const path = join(directory, String(number))
    disk.write(path, new Random(number))
    const files = readdirSync(path).sort()
    const text = (name: string) => readFileSync(join(path, name), 'latin1').replace(/[^on]/gs, '?')
    return files.map((name) => `${name}=${text(name)}`).join(' ')
  })
  return new Set(states)
}
