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
  lied: Partial<Record<Lie, CutsReport>>
}

const lies: readonly Lie[] = ['all syncs', 'syncs of files', 'syncs of directories']

const recorders = { life: recordLife, move: recordMove, failing: recordFailing }

/** A life to record and to judge, also by another process. `control`: its program must lose. */
export type Task = {
  record: keyof typeof recorders
  life: Omit<LifeOptions, 'directory'>
  round: Round
  control?: boolean
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

/** A copy of the program that syncs only when it folds its journal. Its files go with it. */
export function weakProgram(): Disposable & { command: string[] } {
  const directory = newScratch()
  mkdirSync(directory, { recursive: true })
  for (const name of ['src', 'docs', 'package.json', 'tsconfig.json', 'schema.sql']) {
    cpSync(join(project, name), join(directory, name), { recursive: true })
  }
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'))
  const path = join(directory, 'src/db/sqlite.ts')
  const text = readFileSync(path, 'utf8')
  const weak = text.replace("'synchronous = FULL'", "'synchronous = NORMAL'")
  if (weak === text) throw new Error('the engine has no such setting any more')
  writeFileSync(path, weak)
  return {
    command: [process.execPath, join(directory, 'src/main.ts')],
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** A directory in memory where there is one: thousands of states are written. */
function newScratch(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cuponera-cut-'))
}
