import type { Random } from '../../fuzz/random.ts'
import type { Lane } from './client.ts'
import { Disk, type Harshness, type Lie } from './disk.ts'
import { type Life, names } from './life.ts'

/** The numbers of steps that a database may hold: `most` counts one that was not answered yet. */
export type Held = {
  least: number
  most: number
  /** A ledger settles transactions from after a backup again, if the relay gives it their events. */
  settledAgain?: boolean
}

export type World = Map<Lane, Held>

/** The knowledge of all clients at the moment of a cut. */
export type Known = {
  /** The recorded events before it. */
  at: number
  /** Its time, in Unix seconds. */
  time: number
  /** The program that ran. */
  program: string
  /** The data directory of the service that must come up. */
  name: string
  /** Each database must be as in one of these worlds. */
  coupons: World[]
  relay: World[]
  /** Both databases are in the same one of these worlds. */
  together: boolean
  /** The worlds of which one is in the file of the backup. */
  backups: World[]
  backupMayBeMissing: boolean
  /** The file of a move is there, whole. */
  moved: boolean
  /** The key files are those of the recording. */
  answered: boolean
  /** The database may say that it was closed properly. */
  mayBeClean: boolean
}

/** Plays a recording on a disk, and writes down what was answered up to each moment. */
export class Moments {
  readonly #life: Life
  readonly #disk: Disk
  readonly #lie: Lie
  readonly #lanes: Lane[]
  /** The lane of each step, and the number of its steps up to this one. Also of what others were shown. */
  readonly #countOf = new Map<string, { lane: Lane; count: number }>()
  readonly #lastAnswers = new Set<number>()
  readonly #told = new Map<Lane, number>()
  #at = 0
  #time = 0
  #program = 'nothing'
  #answered = false
  #mayBeClean = true
  #backups: World[] = []
  #backupBegan: World = new Map()
  #backupMayBeMissing = true
  readonly #done = new Set<string>()

  constructor(life: Life, lie: Lie = 'none') {
    this.#life = life
    this.#lie = lie
    this.#disk = new Disk(life.recording)
    this.#lanes = [...life.lanes.before, ...life.lanes.after]
    for (const lane of this.#lanes) {
      for (const [at, { id }] of lane.steps.entries())
        this.#countOf.set(id, { lane, count: at + 1 })
    }
    for (const { id, lane, count } of life.sights) this.#countOf.set(id, { lane, count })
    let last = -1
    for (const [at, { kind }] of life.recording.events.entries()) {
      if (kind === 'begun' && last >= 0) this.#lastAnswers.add(last)
      if (kind === 'left') last = at
    }
    this.#lastAnswers.add(last)
  }

  /** Go on to a moment, and write one of the states in which a power cut may leave the disk there. */
  cut(at: number, directory: string, random: Random, harshness: Harshness): Known {
    for (; this.#at < at; this.#at++) this.#follow(this.#at)
    this.#disk.write(directory, random, harshness)
    const program = this.#program
    const moves = program === 'move-in' || program === 'arrived'
    const worlds = this.#worlds()
    return {
      ...{ at, time: this.#time, program, coupons: worlds, relay: worlds },
      // A restore replaces one after the other. A start completes an arrival before it opens one of them.
      together: program !== 'restore',
      name: moves ? names.moved : names.data,
      ...{ backups: this.#backups, backupMayBeMissing: this.#backupMayBeMissing },
      moved: this.#done.has('moved-out'),
      answered: this.#answered && (program !== 'move-in' || this.#done.has('moved-in')),
      mayBeClean: this.#mayBeClean,
    }
  }

  /** A service that is replaced is in its old state or in its new one. */
  #worlds(): World[] {
    const now = this.#now(1)
    const restored = this.#afterRestore(now)
    if (this.#done.has('restored')) return [restored]
    if (this.#program === 'restore') return [now, restored]
    if (this.#program !== 'move-in' || this.#done.has('moved-in')) return [now]
    return [now, new Map(this.#lanes.map((lane) => [lane, { least: 0, most: 0 }]))]
  }

  #now(ahead: number): World {
    return new Map(
      this.#lanes.map((lane) => {
        const least = this.#told.get(lane) ?? 0
        return [lane, { least, most: Math.min(least + ahead, lane.steps.length) }]
      }),
    )
  }

  /** The lanes of the time before a restore are as in the backup, and the others go on. */
  #afterRestore(now: World): World {
    const before = new Set(this.#life.lanes.before)
    const world: World = new Map(now)
    for (const [lane, range] of this.#backups.at(-1) ?? [])
      if (before.has(lane)) world.set(lane, { ...range, settledAgain: true })
    return world
  }

  #follow(at: number): void {
    const event = this.#life.recording.events[at]
    if (!event) throw new RangeError('the recording is over')
    this.#time = Math.max(this.#time, event.time)
    switch (event.kind) {
      case 'begun':
        this.#program = event.step
        return
      case 'heard':
        if (event.step.startsWith('backup')) this.#beginBackup()
        return
      case 'left':
        this.#answer(at, event.step)
        return
      case 'shown':
        this.#tell(event.step)
        return
      default:
        this.#disk.apply(event)
    }
  }

  #beginBackup(): void {
    this.#backupBegan = this.#now(0)
    // Until it is answered, the file may hold any moment from here on.
    const most = (lane: Lane) => lane.steps.length
    const open = [...this.#backupBegan].map(
      ([lane, { least }]) => [lane, { least, most: most(lane) }] as const,
    )
    this.#backups.push(new Map(open))
  }

  /** From here on somebody knows that this step was done. */
  #tell(step: string): void {
    const known = this.#countOf.get(step)
    if (!known) return
    const { lane, count } = known
    this.#told.set(lane, Math.max(count, this.#told.get(lane) ?? 0))
  }

  #answer(at: number, step: string): void {
    if (this.#lie !== 'none' && step !== 'status') this.#disk.lie(this.#lie)
    this.#tell(step)
    this.#answered = true
    // The first program was killed, so the second finds the file as open.
    this.#mayBeClean = this.#lastAnswers.has(at) && this.#program !== 'first'
    this.#done.add(step)
    if (!step.startsWith('backup')) return
    const now = this.#now(1)
    const world = [...this.#backupBegan].map(
      ([lane, { least }]) => [lane, { least, most: now.get(lane)?.most ?? least }] as const,
    )
    this.#backups = [new Map(world)]
    this.#backupMayBeMissing = false
  }
}
