import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlPath, type Status } from '../../../src/app/control.ts'
import { Random } from '../../fuzz/random.ts'
import { tracing } from './calls.ts'
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

/** Records processes of one life. */
class Recorder {
  readonly #options: LifeOptions
  readonly #recording: Recording
  readonly #random: Random
  readonly #trace: string
  readonly #surroundings = openSurroundings()
  readonly #sights: Sight[] = []

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

  newClients(): Client[] {
    const create = () => {
      const random = new Random(this.#random.below(2 ** 31))
      return new Client(this.#surroundings.operator, random)
    }
    return Array.from({ length: this.#options.lanes }, create)
  }

  /** Record a service under load, with a backup or a kill (-9) if ordered. */
  async serve(
    program: string,
    name: string,
    clients: Client[],
    order: { backup?: string; kill?: boolean },
  ): Promise<void> {
    const { steps, command } = this.#options
    const dataDir = this.path(name)
    const { operator, environment: env } = this.#surroundings
    await using server = await startTraced(this.#trace, { dataDir, env, command })
    const socket = controlPath(dataDir)
    const { manager } = await askControl<Status>(socket, 'GET', 'status')
    operator.manager = manager
    operator.cardKey = readFileSync(join(dataDir, 'keys/card.key'), 'utf8').trim()
    await Promise.all(clients.map((client) => client.connect(server.url, socket)))
    const watcher = await Watcher.start(server.url, clients)
    const [early, late] = order.backup ? [Math.ceil(steps / 2), Math.floor(steps / 2)] : [steps, 0]
    const run = (count: number) => Promise.all(clients.map((client) => client.run(count)))
    await run(early)
    // The backup runs beside the load.
    const file = this.path(names.backup)
    const backup = { step: order.backup ?? '', body: { file, force: true } }
    const copied = order.backup && askControl(socket, 'POST', 'backup', backup)
    await Promise.all([run(late), copied])
    this.#sights.push(...(await watcher.stop()))
    for (const client of clients) client.close()
    await server.end(order.kill ? 'SIGKILL' : 'SIGTERM')
    this.#add(program)
  }

  /** Record a command of the operator. */
  async run(program: string, name: string, args: readonly string[]): Promise<void> {
    const child = Bun.spawn([...tracing(this.#trace, this.#options.command), ...args], {
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
      sights: this.#sights,
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
      if (String(left.filter((step) => ids.has(step))) === String([...ids])) continue
      throw new Error('the recording is not complete: its answers are not those of the clients')
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
    if (String(filesIn(replayed)) !== String(files) || files.some(differs)) {
      throw new Error('the recording is not complete: its changes make other files')
    }
    rmSync(replayed, { recursive: true })
  }
}
