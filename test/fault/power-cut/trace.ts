import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { callsOf } from './calls.ts'
import { Processes } from './process.ts'

/** A file or a directory: what its names point to. The recorded directory is node 0. */
export type NodeId = number

export type Change =
  | { kind: 'write'; file: NodeId; offset: number; data: Uint8Array }
  | { kind: 'copy'; file: NodeId; offset: number; from: NodeId; begin: number; length: number }
  | { kind: 'truncate'; file: NodeId; size: number }
  | { kind: 'sync'; node: NodeId }
  /** A sync that failed: what it should have brought to the disk can still be read, and no later sync brings it there. */
  | { kind: 'loss'; node: NodeId }
  /** A name gets a new node, a further name of one, or none. */
  | { kind: 'entry'; directory: NodeId; name: string; node: NodeId | null }
  | { kind: 'rename'; from: Place; to: Place; node: NodeId }

export type Place = { directory: NodeId; name: string }

/** A step of a client reached the program, its answer began to leave, another client was shown it, or a program began. */
export type Mark = { kind: 'heard' | 'left' | 'shown' | 'begun'; step: string }

/** The lines of the trace on which a call began and ended. */
export type Timed = { at: number; done: number }
/** `time`: in Unix seconds. */
export type Recorded = Timed & { time: number } & (Change | Mark)

const marks: ReadonlySet<Recorded['kind']> = new Set<Mark['kind']>([
  'heard',
  'left',
  'shown',
  'begun',
])

export function isChange(event: Recorded): event is Recorded & Change {
  return !marks.has(event.kind)
}

/** The changes of one directory by processes that ran one after the other. */
export class Recording {
  /** Changes in the order of their ends, and answers by their begin. */
  readonly events: Recorded[] = []
  readonly directories = new Map<NodeId, Map<string, NodeId>>([[0, new Map()]])
  /** Files that are memory of the processes, written without a call. Their content is lost in any case. */
  readonly shared = new Set<NodeId>()
  readonly root: string
  /** Syncs of a log that SQLite did not make itself. */
  syncsAside = 0
  /** Logs that SQLite began, or began anew after all of one was folded into its file. */
  logsBegun = 0
  #nodes = 1
  #lines = 0
  #time = 0

  /** `root`: an empty directory. */
  constructor(root: string) {
    this.root = root
  }

  /** Add the trace of a process that has ended. */
  add(name: string, path: string): void {
    const processes = new Processes(this)
    const first = this.#lines++
    this.record({ at: first, done: first }, { kind: 'begun', step: name })
    for (const call of callsOf(path, this.#lines)) {
      this.#lines = call.done + 1
      this.#time = call.time
      processes.take(call)
    }
    // An answer counts from the begin of its call, a change from the end.
    const moment = (event: Recorded) =>
      event.kind === 'left' || event.kind === 'shown' ? event.at : event.done
    this.events.sort((one, other) => moment(one) - moment(other))
  }

  get changes(): (Timed & Change)[] {
    return this.events.filter(isChange)
  }

  /** Begin with the files that are there: all of them are on the disk. */
  adopt(): void {
    const take = (directory: NodeId, path: string) => {
      for (const name of readdirSync(path)) {
        const [at, place] = [this.#lines, join(path, name)]
        const call = { at, done: at }
        const kind = lstatSync(place).isDirectory() ? 'directory' : 'file'
        const node = this.create(call, { directory, name }, kind)
        this.#lines++
        if (kind === 'directory') take(node, place)
        else this.record(call, { kind: 'write', file: node, offset: 0, data: readFileSync(place) })
        const synced = this.#lines++
        this.record({ at: synced, done: synced }, { kind: 'sync', node })
      }
    }
    take(0, this.root)
    const at = this.#lines++
    this.record({ at, done: at }, { kind: 'sync', node: 0 })
  }

  record(call: Timed, event: Change | Mark): void {
    this.events.push({ ...event, at: call.at, done: call.done, time: this.#time })
  }

  /** The place of a path, and its node if there is one. Null outside of the recorded directory. */
  find(path: string): (Place & { node: NodeId | undefined }) | null {
    if (path === this.root) return { directory: 0, name: '', node: 0 }
    if (!path.startsWith(`${this.root}/`)) return null
    const names = path.slice(this.root.length + 1).split('/')
    const name = names.pop() ?? ''
    let directory: NodeId | undefined = 0
    for (const one of names) directory = this.directories.get(directory ?? -1)?.get(one)
    const entries = directory === undefined ? undefined : this.directories.get(directory)
    if (directory === undefined || !entries) return null
    return { directory, name, node: entries.get(name) }
  }

  create(call: Timed, { directory, name }: Place, kind: 'file' | 'directory'): NodeId {
    const node = this.#nodes++
    if (kind === 'directory') this.directories.set(node, new Map())
    if (name.endsWith('-shm')) this.shared.add(node)
    this.enter(call, { directory, name }, node)
    return node
  }

  enter(call: Timed, { directory, name }: Place, node: NodeId | null): void {
    const entries = this.directories.get(directory)
    if (node === null) entries?.delete(name)
    else entries?.set(name, node)
    this.record(call, { kind: 'entry', directory, name, node })
  }

  rename(call: Timed, from: Place, to: Place, node: NodeId): void {
    this.directories.get(from.directory)?.delete(from.name)
    this.directories.get(to.directory)?.set(to.name, node)
    this.record(call, { kind: 'rename', from, to, node })
  }
}
