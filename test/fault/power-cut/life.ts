import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlPath, type Status } from '../../../src/app/control.ts'
import { Random } from '../../fuzz/random.ts'
import { startServer } from '../../support/server.ts'
import { Client, type Lane } from './client.ts'
import { Disk } from './disk.ts'
import { Recording, tracing } from './trace.ts'

/** The recorded life of a service, and all answers of it. */
export type Life = {
  recording: Recording
  /** The lanes before a restore or a move, and those after it. */
  lanes: { before: Lane[]; after: Lane[] }
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

const environment = { RATE_LIMIT: 'off', LOG_LEVEL: 'warn' }

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
    const create = () => new Client(new Random(this.#random.below(2 ** 31)))
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
    const traced = tracing(this.#trace, command)
    const server = await startServer({ dataDir, env: environment, command: traced })
    const socket = controlPath(dataDir)
    const { pid } = await askControl<Status>(socket, 'GET', 'status')
    await Promise.all(clients.map((client) => client.connect(server.url)))
    const [early, late] = order.backup ? [Math.ceil(steps / 2), Math.floor(steps / 2)] : [steps, 0]
    const run = (count: number) => Promise.all(clients.map((client) => client.run(count)))
    await run(early)
    // The backup runs beside the load.
    const file = this.path(names.backup)
    const copied = order.backup && askControl(socket, 'POST', 'backup', order.backup, file)
    await Promise.all([run(late), copied])
    for (const client of clients) client.close()
    process.kill(pid, order.kill ? 'SIGKILL' : 'SIGTERM')
    await server.exited
    this.#add(program)
  }

  /** Record a command of the operator. */
  async run(program: string, name: string, args: readonly string[]): Promise<void> {
    const child = Bun.spawn([...tracing(this.#trace, this.#options.command), ...args], {
      env: { PATH: process.env.PATH, ...environment, DATA_DIR: this.path(name) },
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

export async function askControl<T>(
  socket: string,
  method: string,
  command: string,
  step = command,
  file?: string,
): Promise<T> {
  const answer = await fetch(`http://control/${command}`, {
    method,
    unix: socket,
    headers: { 'X-Step': step },
    ...(file !== undefined && { body: JSON.stringify({ file, force: true }) }),
  })
  const { result, refused } = (await answer.json()) as { result: T; refused?: string }
  if (refused !== undefined) throw new Error(refused)
  return result
}
