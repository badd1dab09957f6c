import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../fuzz/random.ts'
import { stopRelays } from '../../support/faulty-relay.ts'
import { startOn } from './built.ts'
import { type CutsReport, judgeCuts } from './cuts.ts'
import type { Lie } from './disk.ts'
import {
  IncompleteRecording,
  type Life,
  type LifeOptions,
  recordFailing,
  recordLife,
  recordMove,
} from './life.ts'
import { openState } from './opened.ts'
import type { Recording } from './trace.ts'

const project = join(import.meta.dir, '../../..')

export type Round = {
  /** States that are opened in this process. */
  opened: number
  /** States that the program itself is started on. */
  started: number
  /** States of each disk that lies. */
  lied: number
  /** The share of opened states whose recovery is cut again, at so many moments. */
  again?: { share: number; states: number }
  /** Cut right behind answers, and leave nothing that was not synced. */
  harsh?: boolean
  /** Copy of the first state with a problem. */
  keep?: string
}

export type RoundReport = Record<'opened' | 'started', CutsReport> & {
  /** Answers in the recording. */
  answers: number
  /** Logs that began, two in each process and one after each fold. */
  logs: number
  lied: Partial<Record<Lie, CutsReport>>
}

const lies: readonly Lie[] = ['all syncs', 'syncs of files', 'syncs of directories']

const recorders = { life: recordLife, move: recordMove, failing: recordFailing }

/** A life to record and to judge, also by another process. `control`: the weakness of its program, which must lose. */
export type Task = {
  record: keyof typeof recorders
  life: Omit<LifeOptions, 'directory'>
  round: Round
  control?: Weakness
}

export async function judgeRound({ record, life, round }: Task): Promise<RoundReport> {
  const { recording: _, ...report } = await judgeLife(recorders[record], life, round)
  return report
}

/** Record a life. An incomplete recording, as one of a hundred is, is told, and made again twice at most. */
async function recordWhole(
  record: (options: LifeOptions) => Promise<Life>,
  options: LifeOptions,
): Promise<Life> {
  for (let again = 0; ; again++) {
    try {
      const directory = join(options.directory, String(again))
      mkdirSync(directory)
      return await record({ ...options, directory })
    } catch (cause) {
      if (!(cause instanceof IncompleteRecording) || again === 2) throw cause
      console.error(`a recording is not complete, and is made again: ${cause.message}`)
    }
  }
}

/** Record one life of a service, and judge states of it. */
export async function judgeLife(
  record: (options: LifeOptions) => Promise<Life>,
  life: Omit<LifeOptions, 'directory'>,
  { opened, started, lied, keep, again, harsh = false }: Round,
): Promise<RoundReport & { recording: Recording }> {
  const directory = newScratch()
  try {
    const recorded = await recordWhole(record, { ...life, directory })
    const random = new Random(life.seed)
    const cuts = (count: number) => ({
      life: recorded,
      count,
      seed: random.below(2 ** 31),
      directory,
      backups: 0.1,
      harsh,
    })
    const kept = keep === undefined ? {} : { keep }
    const { recording } = recorded
    const report = {
      recording,
      answers: recording.events.filter(({ kind }) => kind === 'left').length,
      logs: recording.logsBegun,
      opened: await judgeCuts({
        ...{ ...cuts(opened), open: openState, ...kept },
        ...(again && { again: { ...again, command: life.command } }),
      }),
      started: await judgeCuts({
        ...cuts(started),
        // A service that has left for another computer is closed.
        open: (dataDir, { program }) =>
          program === 'move-out' ? openState(dataDir) : startOn(dataDir, life.command, recorded),
      }),
      lied: {} as RoundReport['lied'],
    }
    for (const lie of lied > 0 ? lies : []) {
      report.lied[lie] = await judgeCuts({ ...cuts(lied), open: openState, lie })
    }
    return report
  } finally {
    await stopRelays()
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * Programs that lose answers, each by an edit of the source: COMMIT does not wait for the disk; the sync of a slow disk
 * is left out; reads see a commit before that sync; a log whose sync failed is only synced once more; the file is not synced before its log begins anew. `syncMs`: the
 * syncs of a disk on which this is seen. `record`: the life in which it is.
 */
const edits = {
  'synchronous = NORMAL': {
    record: 'life',
    syncMs: 0,
    file: 'src/db/sqlite.ts',
    find: "'synchronous = FULL'",
    replace: "'synchronous = NORMAL'",
  },
  'no sync of a slow disk': {
    record: 'life',
    syncMs: 2,
    file: 'src/db/wal.ts',
    find: 'await syncElsewhere(file)',
    replace: 'await Bun.sleep(2)',
  },
  'reads before the sync of a slow disk': {
    // Others have time to look.
    record: 'life',
    syncMs: 10,
    file: 'src/db/slow-disk.ts',
    find: '    this.#reader.pin()\n',
    replace: '',
  },
  'no second write after a failed sync': {
    record: 'failing',
    syncMs: 2,
    file: 'src/db/slow-disk.ts',
    find: '      this.#wal.rewrite(frames)\n',
    replace: '',
  },
  'no sync of the end of a log': {
    record: 'life',
    syncMs: 2,
    file: 'src/db/fold.ts',
    find: "'PRAGMA synchronous = FULL'",
    replace: "'PRAGMA synchronous = OFF'",
  },
} as const

export type Weakness = keyof typeof edits
export const weaknesses = Object.keys(edits) as Weakness[]

/** A copy of the program with a weakness, which folds its log often. Its files go with it. */
export function weakProgram(
  weakness: Weakness,
): Disposable & { command: string[]; syncMs: number; record: Task['record'] } {
  const { record, syncMs, file, find, replace } = edits[weakness]
  const directory = newScratch()
  mkdirSync(directory, { recursive: true })
  for (const name of ['src', 'docs', 'package.json', 'tsconfig.json', 'schema.sql']) {
    cpSync(join(project, name), join(directory, name), { recursive: true })
  }
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'))
  mkdirSync(join(directory, 'test/support'), { recursive: true })
  const shortLog = join(directory, 'test/support/short-log.ts')
  copyFileSync(join(project, 'test/support/short-log.ts'), shortLog)
  const path = join(directory, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(find)) throw new Error(`${file} has no such line any more: ${find}`)
  writeFileSync(path, text.replace(find, replace))
  return {
    ...{ record, syncMs },
    command: [process.execPath, '--preload', shortLog, join(directory, 'src/main.ts')],
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** A directory in memory where there is one: thousands of states are written. */
function newScratch(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cuponera-cut-'))
}
