import {
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
import type { Life, LifeOptions } from './life.ts'
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
  recording: Recording
  lied: Partial<Record<Lie, CutsReport>>
}

const lies: readonly Lie[] = ['all syncs', 'syncs of files', 'syncs of directories']

/** Record one life of a service, and judge states of it. */
export async function judgeLife(
  record: (options: LifeOptions) => Promise<Life>,
  life: Omit<LifeOptions, 'directory'>,
  { opened, started, lied, keep, again, harsh = false }: Round,
): Promise<RoundReport> {
  const directory = newScratch()
  try {
    const recorded = await record({ ...life, directory })
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
    const report: RoundReport = {
      recording: recorded.recording,
      opened: await judgeCuts({
        ...{ ...cuts(opened), open: openState, ...kept },
        ...(again && { again: { ...again, command: life.command } }),
      }),
      started: await judgeCuts({
        ...cuts(started),
        open: (dataDir) => startOn(dataDir, life.command, recorded),
      }),
      lied: {},
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
 * is left out; reads see a commit before that sync. `syncMs`: the syncs of a disk on which this is seen.
 */
export const weaknesses = {
  'synchronous = NORMAL': {
    syncMs: 0,
    file: 'src/db/sqlite.ts',
    find: "'synchronous = FULL'",
    replace: "'synchronous = NORMAL'",
  },
  'no sync of a slow disk': {
    syncMs: 2,
    file: 'src/db/wal.ts',
    find: 'fdatasync(file, (cause) => (cause ? reject(cause) : resolve()))',
    replace: 'setTimeout(resolve, 2)',
  },
  'reads before the sync of a slow disk': {
    // Others have time to look.
    syncMs: 10,
    file: 'src/db/slow-disk.ts',
    find: '    this.#parts.reader.pin()\n',
    replace: '',
  },
} as const

/** A copy of the program with a weakness. Its files go with it. */
export function weakProgram(
  weakness: keyof typeof weaknesses,
): Disposable & { command: string[]; syncMs: number } {
  const { syncMs, file, find, replace } = weaknesses[weakness]
  const directory = newScratch()
  mkdirSync(directory, { recursive: true })
  for (const name of ['src', 'docs', 'package.json', 'tsconfig.json', 'schema.sql']) {
    cpSync(join(project, name), join(directory, name), { recursive: true })
  }
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'))
  const path = join(directory, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(find)) throw new Error(`${file} has no such line any more: ${find}`)
  writeFileSync(path, text.replace(find, replace))
  return {
    syncMs,
    command: [process.execPath, join(directory, 'src/main.ts')],
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** A directory in memory where there is one: thousands of states are written. */
function newScratch(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cuponera-cut-'))
}
