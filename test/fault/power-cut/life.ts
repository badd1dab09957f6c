import { Database as Sqlite } from 'bun:sqlite'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlPath, type Status } from '../../../src/app/control.ts'
import { Random } from '../../fuzz/random.ts'
import { until } from '../../support/until.ts'
import { type Failing, tracing } from './calls.ts'
import { Client, type Lane } from './client.ts'
import { askControl } from './control.ts'
import { Disk } from './disk.ts'
import { openSurroundings, type Surroundings } from './operator.ts'
import { Recording } from './trace.ts'
import { startTraced } from './traced.ts'
import { type Sight, Watcher } from './watcher.ts'

/** The recorded life of a service, and all answers of it. */
export type Life = {
  recording: Recording
  /** The lanes before a restore or a move, and those after it. */
  lanes: { before: Lane[]; after: Lane[] }
  /** Reads of others that showed a step. */
  sights: Sight[]
  surroundings: Surroundings
  /** The content of the key files, by name. */
  keys: Record<string, string>
  /** The content of the file of the move. Null in a life without one. */
  moved: Uint8Array | null
}

export type LifeOptions = {
  seed: number
  /** The program: its arguments follow. */
  command: readonly string[]
  /** An empty directory. */
  directory: string
  /** Steps of each lane in each process. */
  steps: number
  lanes: number
  /** Each sync takes so many milliseconds longer, so that those of commits run in another thread. */
  syncMs: number
}

/** Names below the recorded directory: of the service, its backup, the file of its move, and the service there. */
export const names = { data: 'data', backup: 'copy.cuponera', move: 'move.age', moved: 'moved' }

/**
 * Record a service under mixed load: first start, backup, kill, recovery, a second backup over the first, clean stop,
 * restore, and one more start.
 */
export async function recordLife(options: LifeOptions): Promise<Life> {
  const recorder = new Recorder(options)
  const before = recorder.newClients()
  await recorder.serve('first', names.data, before, { backup: 'backup-1', kill: true })
  await recorder.serve('recovery', names.data, before, { backup: 'backup-2' })
  await recorder.run('restore', names.data, ['restore', recorder.path(names.backup), '--force'])
  const after = recorder.newClients()
  await recorder.serve('restored', names.data, after, {})
  return recorder.end(names.data, before, after)
}

/** Record the first start of a service, its load and a kill. */
export async function recordStart(options: LifeOptions): Promise<Life> {
  const recorder = new Recorder(options)
  const clients = recorder.newClients()
  await recorder.serve('first', names.data, clients, { kill: true })
  return recorder.end(names.data, clients, [])
}

/** Record a service that moves: start, load, clean stop, `move out`, `move in` elsewhere, and load there. */
export async function recordMove(options: LifeOptions): Promise<Life> {
  const recorder = new Recorder(options)
  const before = recorder.newClients()
  await recorder.serve('leaving', names.data, before, {})
  const secret = join(options.directory, 'passphrase')
  writeFileSync(secret, 'doce palabras que nadie adivina')
  const file = [recorder.path(names.move), '--passphrase-file', secret]
  await recorder.run('move-out', names.data, ['move', 'out', ...file])
  await recorder.run('move-in', names.moved, ['move', 'in', ...file])
  const after = recorder.newClients()
  await recorder.serve('arrived', names.moved, after, {})
  return recorder.end(names.moved, before, after)
}

/**
 * One fsync of so many fails. Never one of three: a log that begins anew is synced three times up to its first commit, which
 * would fail each time that it is tried.
 */
const fsyncPeriods = [2, 4, 5, 7]

/**
 * Record a service whose disk fails some syncs, and then all of them, until it is ended; and the service that starts on
 * what the kernel shows of those files. A reader keeps an old state for a while, so that a checkpoint comes only half way.
 */
export async function recordFailing(options: LifeOptions): Promise<Life> {
  const recorder = new Recorder(options)
  const clients = recorder.newClients(true)
  const random = new Random(options.seed)
  const kill = random.chance(0.5)
  const step = random.below(4)
  // Commits on a slow disk are synced by fdatasync, in several threads: the first four in the main one, so that the
  // third is there however few commits there are. After a failed one the whole log is written.
  const failing = { fsync: `20+${fsyncPeriods[step]}`, fdatasync: `3+${6 + step}` }
  await recorder.serve('first', names.data, clients, { kill: true })
  await recorder.serve('failing', names.data, clients, { failing, reader: true, kill })
  await recorder.fail('failed', names.data, clients, kill)
  await recorder.serve('mended', names.data, clients, {})
  const life = await recorder.end(names.data, clients, [])
  // On a busy machine more operations share a commit, and there may be too few syncs for the one that fails.
  if (!life.recording.events.some(({ kind }) => kind === 'loss')) {
    throw new IncompleteRecording('no sync failed')
  }
  return life
}

/** The work of a recorded service, and its end. */
type Order = { backup?: string; kill?: boolean; failing?: Failing; reader?: boolean }

/** Its answers are not those of the clients, or its changes do not make the files, so that it judges nothing. */
export class IncompleteRecording extends Error {}

/** Records processes of one life. */
class Recorder {
  readonly #options: LifeOptions
  readonly #recording: Recording
  readonly #random: Random
  readonly #trace: string
  readonly #surroundings = openSurroundings()
  readonly #watchers: (() => Sight[])[] = []
  /** Steps that wait for a disk that takes them. */
  #waiting: Promise<unknown> = Promise.resolve()

  constructor(options: LifeOptions) {
    const root = join(options.directory, 'recorded')
    mkdirSync(root)
    this.#options = options
    this.#recording = new Recording(root)
    this.#random = new Random(options.seed)
    this.#trace = join(options.directory, 'trace')
  }

  path(name: string): string {
    return join(this.#recording.root, name)
  }

  newClients(insistent = false): Client[] {
    const create = () => {
      const random = new Random(this.#random.below(2 ** 31))
      return new Client(this.#surroundings.operator, random, insistent)
    }
    return Array.from({ length: this.#options.lanes }, create)
  }

  async #start(name: string, clients: Client[], failing: Failing | null) {
    const { command, syncMs } = this.#options
    const dataDir = this.path(name)
    const { operator, environment: env } = this.#surroundings
    const syncs = { failing, syncMs }
    const server = await startTraced(this.#trace, { dataDir, env, command, syncs })
    const socket = controlPath(dataDir)
    const { manager } = await askControl<Status>(socket, 'GET', 'status')
    operator.manager = manager
    operator.cardKey = readFileSync(join(dataDir, 'keys/card.key'), 'utf8').trim()
    await Promise.all(clients.map((client) => client.connect(server.url, socket)))
    return { server, socket }
  }

  /** Record a service under load, with a backup, failing syncs or a kill (-9) if ordered. */
  async serve(program: string, name: string, clients: Client[], order: Order): Promise<void> {
    const begun = await this.#start(name, clients, order.failing ?? null)
    await using server = begun.server
    const { socket } = begun
    const watcher = await Watcher.start(server.url, clients)
    const work = this.#work(name, socket, clients, order)
    // A service that cannot go on with its disk ends itself. The next one gets the steps that are left.
    const ended = server.exited.then(() => true)
    const left = await Promise.race([work.then(() => false), ended])
    if (left) this.#waiting = work
    this.#watchers.push(await watcher.stop())
    for (const client of clients) client.close()
    if (!left) await server.end(order.kill ? 'SIGKILL' : 'SIGTERM')
    else if (!order.failing) throw new Error(`a service ended by itself: ${program}`)
    this.#add(program)
  }

  async #work(name: string, socket: string, clients: Client[], order: Order): Promise<void> {
    const { steps } = this.#options
    // Steps that another process left without an answer come first.
    await this.#waiting
    const [early, late] =
      order.backup || order.reader ? [Math.ceil(steps / 2), Math.floor(steps / 2)] : [steps, 0]
    const run = (count: number) => Promise.all(clients.map((client) => client.run(count)))
    const reader = order.reader ? holdState(join(this.path(name), 'cuponera.db')) : null
    await run(early)
    reader?.close()
    // The backup runs beside the load.
    const file = this.path(names.backup)
    const backup = { step: order.backup ?? '', body: { file, force: true } }
    const copied = order.backup && askControl(socket, 'POST', 'backup', backup)
    await Promise.all([run(late), copied])
  }

  /** Record a service whose syncs fail for good under load, until each client was refused. Their steps wait for the next one. */
  async fail(program: string, name: string, clients: Client[], kill: boolean): Promise<void> {
    const { server } = await this.#start(name, clients, { fsync: '30+', fdatasync: '4+' })
    await using ended = server
    const before = clients.map(({ refused }) => refused)
    const { steps } = this.#options
    const done = new Set<number>()
    const run = (client: Client, at: number) => client.run(steps).then(() => done.add(at))
    const all = Promise.all(clients.map(run))
    this.#waiting = Promise.all([this.#waiting, all])
    await Promise.race([
      all,
      until('a refusal of each client that has steps left', () =>
        clients.every(({ refused }, at) => done.has(at) || refused > (before[at] ?? 0)),
      ),
    ])
    await ended.end(kill ? 'SIGKILL' : 'SIGTERM')
    this.#add(program)
  }

  /** Record a command of the operator. */
  async run(program: string, name: string, args: readonly string[]): Promise<void> {
    const { command, syncMs } = this.#options
    const child = Bun.spawn([...tracing(this.#trace, command, { syncMs }), ...args], {
      env: {
        PATH: process.env.PATH,
        ...this.#surroundings.environment,
        DATA_DIR: this.path(name),
      },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    await new Response(child.stdout).text()
    if ((await child.exited) !== 0) throw new Error(`the command failed: ${program}`)
    this.#add(program)
  }

  #add(program: string): void {
    this.#recording.add(program, this.#trace)
    rmSync(this.#trace)
  }

  end(name: string, before: Client[], after: Client[]): Life {
    this.#requireComplete()
    const keys = ['manager.nsec', 'store.key', 'session.secret', 'card.key'].map((key) => [
      key,
      readFileSync(join(this.path(name), 'keys', key), 'utf8'),
    ])
    const lanesOf = (clients: Client[]) => clients.map(({ lane }) => lane)
    this.#requireAnswers([...lanesOf(before), ...lanesOf(after)])
    return {
      recording: this.#recording,
      lanes: { before: lanesOf(before), after: lanesOf(after) },
      sights: this.#watchers.flatMap((seen) => seen()),
      surroundings: this.#surroundings,
      keys: Object.fromEntries(keys),
      moved: name === names.moved ? readFileSync(this.path(names.move)) : null,
    }
  }

  /** Each step of a lane must have left once, in the order of the lane. */
  #requireAnswers(lanes: readonly Lane[]): void {
    const left = this.#recording.events.flatMap((event) =>
      event.kind === 'left' ? [event.step] : [],
    )
    for (const { steps } of lanes) {
      const ids = new Set(steps.map(({ id }) => id))
      const seen = left.filter((step) => ids.has(step))
      const at = steps.findIndex(({ id }, place) => seen[place] !== id)
      if (at < 0 && seen.length === steps.length) continue
      const { kind, refused, id } = steps[at] ?? { kind: 'none', refused: 0, id: '' }
      const times = seen.filter((one) => one === id).length
      throw new IncompleteRecording(
        `answer ${at + 1} of ${steps.length} (${kind}, ${refused} refused before) left ${times} times`,
      )
    }
  }

  /** All recorded changes together must make the very files that the programs left. */
  #requireComplete(): void {
    const disk = new Disk(this.#recording)
    for (const change of this.#recording.changes) disk.apply(change)
    const replayed = join(this.#options.directory, 'replayed')
    disk.write(replayed, null)
    const filesIn = (root: string) =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
        .sort()
    const files = filesIn(this.#recording.root)
    const differs = (file: string) =>
      !readFileSync(join(replayed, file)).equals(readFileSync(join(this.#recording.root, file)))
    const made = filesIn(replayed)
    const others = new Set(files).symmetricDifference(new Set(made))
    const wrong = [...others, ...files.filter((file) => !others.has(file) && differs(file))]
    if (wrong.length > 0) throw new IncompleteRecording(`its changes make another ${wrong[0]}`)
    rmSync(replayed, { recursive: true })
  }
}

/** Read a database in its present state until it is closed: the log may not be folded beyond it. */
function holdState(path: string): Sqlite {
  const file = new Sqlite(path, { readonly: true })
  file.run('BEGIN')
  file.query('SELECT * FROM state').get()
  return file
}
