import { resolve } from 'node:path'
import { bytesOf, type Call, isFork, stringsIn } from './calls.ts'
import type { NodeId, Recording } from './trace.ts'

/** A descriptor: an open node, or a connection with the step that it asked last. */
type Handle = { node: NodeId; position: number } | { asked: string | null }

/** The open files and connections of a process. Its threads share them. */
type Table = Map<number, Handle>

/** The processes of a trace: one, and those that it starts. */
export class Processes {
  readonly #recording: Recording
  readonly #first: Table = new Map()
  readonly #tables = new Map<string, Table>()
  /** The descriptors of processes that have begun and have not called anything yet. */
  readonly #unborn: Table[] = []

  constructor(recording: Recording) {
    this.#recording = recording
  }

  take(call: Call): void {
    const table = this.#tableOf(call.thread)
    if (/^(clone3?|v?fork)\(/.test(call.text)) this.#begin(call, table)
    else new Process(this.#recording, table).take(call)
  }

  #tableOf(thread: string): Table {
    const known = this.#tables.get(thread)
    if (known) return known
    // A thread that is not known yet belongs to a new process, if there is one, or to the first process.
    const table = this.#unborn.shift() ?? this.#first
    this.#tables.set(thread, table)
    return table
  }

  #begin(call: Call, table: Table): void {
    if (!isFork(call.text)) this.#tables.set(String(call.result), table)
    else if (call.result > 0) this.#tables.set(String(call.result), new Map(table))
    else this.#unborn.push(new Map(table))
    // Otherwise it would not be known of which of the two the next new thread is.
    if (this.#unborn.length > 1) throw new Error('two processes began at the same time')
  }
}

/** Calls of which the effect on a file would not be in the recording, or not in its order. */
const unmodelled = new Set([
  ...['openat2', 'pwritev2', 'sendfile', 'splice', 'sync', 'syncfs', 'fallocate', 'truncate'],
  ...['symlink', 'symlinkat', 'mknod', 'mknodat', 'chdir', 'fchdir', 'close_range'],
  ...['io_setup', 'io_submit', 'io_uring_setup'],
])

class Process {
  readonly #recording: Recording
  readonly #handles: Table

  constructor(recording: Recording, handles: Table) {
    this.#recording = recording
    this.#handles = handles
  }

  take(call: Call): void {
    const number = Number(/\((\d+)/.exec(call.text.slice(0, 40))?.[1] ?? -1)
    const handle = this.#handles.get(number)
    if (unmodelled.has(call.name)) this.#refuse(call)
    switch (call.name) {
      case 'open':
      case 'openat':
      case 'creat':
        this.#open(call)
        return
      case 'close':
        this.#handles.delete(number)
        return
      case 'dup':
      case 'dup2':
      case 'dup3':
      case 'fcntl':
        this.#duplicate(call, handle)
        return
      case 'accept4':
        this.#handles.set(call.result, { asked: null })
        return
      case 'recvfrom':
        if (handle && 'asked' in handle) this.#hear(call, handle)
        return
      case 'lseek':
        if (handle && 'node' in handle) handle.position = call.result
        return
      case 'write':
      case 'pwrite64':
      case 'writev':
      case 'pwritev':
      case 'sendto':
      case 'sendmsg':
        if (handle && 'node' in handle) this.#write(call, handle)
        else if (handle) this.#answer(call, handle)
        else if (number === 1) this.#say(call)
        return
      case 'fsync':
      case 'fdatasync':
      case 'ftruncate':
        if (handle && 'node' in handle) this.#record(call, handle.node)
        return
      // It brings no size and no place of new bytes to the disk, so that it keeps nothing.
      case 'sync_file_range':
        return
      case 'mmap':
        this.#map(call)
        return
      case 'copy_file_range':
      case 'ioctl':
        this.#copy(call)
        return
      default:
        this.#rename(call)
    }
  }

  /** Throws if a call concerns the recorded directory: what it does there would be missing. */
  #refuse(call: Call): void {
    const descriptors = [...call.text.matchAll(/[(,] ?(\d+)(?=[,)])/g)].map(([, one]) =>
      Number(one),
    )
    const open = descriptors.some((one) => {
      const handle = this.#handles.get(one)
      return handle !== undefined && 'node' in handle
    })
    const named = this.#pathsOf(call).some((path) => this.#recording.find(path))
    const blind = /^(io_|sync\(|chdir|fchdir)/.test(call.text)
    if (open || named || blind) throw new UnmodelledCall(call)
  }

  #duplicate(call: Call, handle: Handle | undefined): void {
    if (call.name === 'fcntl' && !call.text.includes('F_DUPFD')) return
    this.#handles.delete(call.result)
    if (handle) this.#handles.set(call.result, handle)
  }

  /** Memory that is written without a call: only the index of a WAL, which is lost in any case. */
  #map(call: Call): void {
    if (!call.text.includes('MAP_SHARED') || !call.text.includes('PROT_WRITE')) return
    const number = Number(/, (\d+), (?:0x)?[0-9a-f]+\) = /.exec(call.text)?.[1] ?? -1)
    const handle = this.#handles.get(number)
    if (!handle || !('node' in handle)) return
    if (!this.#recording.shared.has(handle.node)) throw new UnmodelledCall(call)
  }

  #record(call: Call, node: NodeId): void {
    const size = Number(/, (\d+)\)/.exec(call.text)?.[1])
    if (call.name === 'ftruncate')
      this.#recording.record(call, { kind: 'truncate', file: node, size })
    else this.#recording.record(call, { kind: call.result < 0 ? 'loss' : 'sync', node })
    // SQLite syncs with fsync.
    if (call.name === 'fdatasync') this.#recording.syncsAside++
  }

  #open(call: Call): void {
    this.#handles.delete(call.result)
    const found = this.#recording.find(this.#pathsOf(call)[0] ?? '')
    if (!found) return
    // Such bytes are placed, or on the disk, without a further call.
    if (/O_(APPEND|SYNC|DSYNC|TMPFILE)/.test(call.text)) throw new UnmodelledCall(call)
    const node = found.node ?? this.#recording.create(call, found, 'file')
    this.#handles.set(call.result, { node, position: 0 })
    if (found.node !== undefined && (call.name === 'creat' || call.text.includes('O_TRUNC'))) {
      this.#recording.record(call, { kind: 'truncate', file: node, size: 0 })
    }
  }

  #write(call: Call, handle: { node: NodeId; position: number }): void {
    const data = Buffer.concat(stringsIn(call.text)).subarray(0, call.result)
    const placed = call.name.startsWith('p')
    const offset = placed
      ? Number(/, (\d+)\) += \d+$/.exec(call.text.slice(-80))?.[1])
      : handle.position
    if (!placed) handle.position += data.length
    this.#recording.record(call, { kind: 'write', file: handle.node, offset, data })
    if (offset === 0 && isLogHeader(data)) this.#recording.logsBegun++
  }

  #hear(call: Call, connection: { asked: string | null }): void {
    const text = Buffer.concat(stringsIn(call.text)).toString('latin1')
    if (!/^[A-Z]+ \S+ HTTP\/1\.1\r\n/.test(text)) return
    const step = /\r\nx-step: (\S+)/i.exec(text)?.[1] ?? null
    connection.asked = step
    if (step !== null) this.#recording.record(call, { kind: 'heard', step })
  }

  /** An answer of HTTP belongs to the step that its connection asked last. Others name their step. */
  #answer(call: Call, { asked }: { asked: string | null }): void {
    const text = Buffer.concat(stringsIn(call.text)).toString('latin1')
    const told = [...text.matchAll(/\["OK","([0-9a-f]{64})",true/g)].map(([, id = '']) => id)
    if (asked !== null && text.startsWith('HTTP/1.1 ')) told.push(asked)
    for (const step of told) this.#recording.record(call, { kind: 'left', step })
    for (const [, step = ''] of text.matchAll(
      /\["EVENT","[^"]*",\{[^{}]*?"id":"([0-9a-f]{64})"/g,
    )) {
      this.#recording.record(call, { kind: 'shown', step })
    }
  }

  /** The line of a command that says that its work is done. */
  #say(call: Call): void {
    const text = Buffer.concat(stringsIn(call.text)).toString('latin1')
    for (const [step, words] of Object.entries(doneWords)) {
      if (text.includes(words)) this.#recording.record(call, { kind: 'left', step })
    }
  }

  #copy(call: Call): void {
    const [, a, b, c, d] =
      /^copy_file_range\((\d+), \[(\d+).*?\], (\d+), \[(\d+)/.exec(call.text) ??
      // A clone: the whole file. Its arguments come in the other order.
      /^ioctl\((\d+), .*FICLONE(), (\d+)()\)/.exec(call.text) ??
      []
    const clone = call.name === 'ioctl'
    if (a === undefined) {
      if (!clone || call.text.includes('CLONE')) this.#refuse(call)
      return
    }
    const from = this.#handles.get(Number(clone ? c : a))
    const to = this.#handles.get(Number(clone ? a : c))
    if (!to || !('node' in to)) return
    if (!from || !('node' in from)) throw new UnmodelledCall(call)
    const length = clone ? Number.POSITIVE_INFINITY : call.result
    const change = { offset: Number(d), begin: Number(b), length }
    this.#recording.record(call, { kind: 'copy', file: to.node, from: from.node, ...change })
  }

  /** The calls that change names. */
  #rename(call: Call): void {
    if (call.text.includes('RENAME_EXCHANGE')) this.#refuse(call)
    const [one, other] = this.#pathsOf(call).map((path) => this.#recording.find(path))
    // A file that comes in from outside, or goes.
    if (one === null && other) throw new UnmodelledCall(call)
    if (!one) return
    const { node } = one
    if (call.name.startsWith('mkdir')) this.#recording.create(call, one, 'directory')
    else if (node === undefined) return
    else if (call.name.startsWith('rename') && other) this.#recording.rename(call, one, other, node)
    else if (call.name.startsWith('link') && other) this.#recording.enter(call, other, node)
    else if (/^unlink|^rmdir/.test(call.name)) this.#recording.enter(call, one, null)
    else throw new UnmodelledCall(call)
  }

  /** The paths of a call, also of one that names them from an open directory. */
  #pathsOf({ text }: Call): string[] {
    return [...text.matchAll(/(?:(\d+), )?"((?:\\x[0-9a-f]{2})*)"/g)].map(([, number, escaped]) => {
      const path = bytesOf(escaped ?? '').toString()
      const handle = number === undefined ? undefined : this.#handles.get(Number(number))
      // The program runs where this process runs.
      if (path.startsWith('/') || !handle || !('node' in handle)) return resolve(path)
      return resolve(this.#pathOf(handle.node), path)
    })
  }

  #pathOf(node: NodeId): string {
    if (node === 0) return this.#recording.root
    for (const [directory, entries] of this.#recording.directories) {
      for (const [name, one] of entries)
        if (one === node) return `${this.#pathOf(directory)}/${name}`
    }
    return ''
  }
}

/** The header of a log, which SQLite writes as it begins: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
function isLogHeader(data: Buffer): boolean {
  return data.length === 32 && data.readUInt32BE(0) >>> 1 === 0x377f0682 >>> 1
}

/** The recording would not be what happened: the recorder must learn this call first. */
class UnmodelledCall extends Error {
  constructor({ text }: Call) {
    super(`the recorder does not model this call: ${text.slice(0, 200)}`)
  }
}

const doneWords = {
  restored: ': restored from ',
  'moved-out': ': checked: ',
  'moved-in': ': the service of npub',
}
