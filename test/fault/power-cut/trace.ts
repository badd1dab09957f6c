import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** Calls that change files, bring them to the disk, or carry requests and answers. */
const traced = [
  ...['open', 'openat', 'creat', 'close', 'write', 'pwrite64', 'writev', 'pwritev'],
  ...['fsync', 'fdatasync', 'ftruncate', 'copy_file_range', 'ioctl', 'rename', 'renameat'],
  ...['renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir'],
  ...['accept4', 'sendto', 'sendmsg', 'recvfrom'],
]

/** The command line that records the calls of a program in a file. */
export function tracing(output: string, command: readonly string[]): string[] {
  const options = ['-f', '--seccomp-bpf', '-qq', '-xx', '-s', '67108864', '-e', 'signal=none']
  return ['strace', ...options, '-e', `trace=${traced.join(',')}`, '-o', output, '--', ...command]
}

/** A file or a directory: what its names point to. The recorded directory is node 0. */
export type NodeId = number

export type Change =
  | { kind: 'write'; file: NodeId; offset: number; data: Uint8Array }
  | { kind: 'copy'; file: NodeId; offset: number; from: NodeId; begin: number; length: number }
  | { kind: 'truncate'; file: NodeId; size: number }
  | { kind: 'sync'; node: NodeId }
  /** A name gets a new node, a further name of one, or none. */
  | { kind: 'entry'; directory: NodeId; name: string; node: NodeId | null }
  | { kind: 'rename'; from: Place; to: Place; node: NodeId }

export type Place = { directory: NodeId; name: string }

/** A step of a client reached the program, its answer began to leave, or a program began. */
export type Mark = { kind: 'heard' | 'left' | 'begun'; step: string }

/** The lines of the trace on which a call began and ended. */
export type Timed = { at: number; done: number }
export type Recorded = Timed & (Change | Mark)

type Call = { name: string; text: string; result: number; at: number; done: number }

/** The changes of one directory by processes that ran one after the other. */
export class Recording {
  /** Changes in the order of their ends, and answers by their begin. */
  readonly events: Recorded[] = []
  readonly directories = new Map<NodeId, Map<string, NodeId>>([[0, new Map()]])
  /** Files that are memory of the processes, written without a call. Their content is lost in any case. */
  readonly shared = new Set<NodeId>()
  readonly root: string
  #nodes = 1
  #lines = 0

  /** `root`: an empty directory. */
  constructor(root: string) {
    this.root = root
  }

  /** Add the trace of a process that has ended. */
  add(name: string, path: string): void {
    const process = new Process(this)
    const first = this.#lines++
    this.events.push({ kind: 'begun', step: name, at: first, done: first })
    for (const call of callsOf(path, this.#lines)) {
      this.#lines = call.done + 1
      process.take(call)
    }
    // An answer counts from the begin of its call, a change from the end.
    const moment = (event: Recorded) => (event.kind === 'left' ? event.at : event.done)
    this.events.sort((one, other) => moment(one) - moment(other))
  }

  get changes(): (Timed & Change)[] {
    const marks: readonly string[] = ['heard', 'left', 'begun'] satisfies Mark['kind'][]
    return this.events.filter((event): event is Timed & Change => !marks.includes(event.kind))
  }

  record(call: Call, event: Change | Mark): void {
    this.events.push({ ...event, at: call.at, done: call.done })
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

  create(call: Call, { directory, name }: Place, kind: 'file' | 'directory'): NodeId {
    const node = this.#nodes++
    if (kind === 'directory') this.directories.set(node, new Map())
    if (name.endsWith('-shm')) this.shared.add(node)
    this.enter(call, { directory, name }, node)
    return node
  }

  enter(call: Call, { directory, name }: Place, node: NodeId | null): void {
    const entries = this.directories.get(directory)
    if (node === null) entries?.delete(name)
    else entries?.set(name, node)
    this.record(call, { kind: 'entry', directory, name, node })
  }

  rename(call: Call, from: Place, to: Place, node: NodeId): void {
    this.directories.get(from.directory)?.delete(from.name)
    this.directories.get(to.directory)?.set(to.name, node)
    this.record(call, { kind: 'rename', from, to, node })
  }
}

/** A descriptor of a process: an open node, or a connection with the step that it asked last. */
type Handle = { node: NodeId; position: number } | { asked: string | null }

/** The open files and connections of a process. */
class Process {
  readonly #recording: Recording
  readonly #handles = new Map<number, Handle>()

  constructor(recording: Recording) {
    this.#recording = recording
  }

  take(call: Call): void {
    const number = Number(/\((\d+)/.exec(call.text.slice(0, 40))?.[1] ?? -1)
    const handle = this.#handles.get(number)
    switch (call.name) {
      case 'open':
      case 'openat':
      case 'creat':
        this.#open(call)
        return
      case 'close':
        this.#handles.delete(number)
        return
      case 'accept4':
        this.#handles.set(call.result, { asked: null })
        return
      case 'recvfrom':
        if (handle && 'asked' in handle) this.#hear(call, handle)
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
      case 'copy_file_range':
      case 'ioctl':
        this.#copy(call)
        return
      default:
        this.#rename(call)
    }
  }

  #record(call: Call, node: NodeId): void {
    const size = Number(/, (\d+)\)/.exec(call.text)?.[1])
    if (call.name === 'ftruncate')
      this.#recording.record(call, { kind: 'truncate', file: node, size })
    else this.#recording.record(call, { kind: 'sync', node })
  }

  #open(call: Call): void {
    this.#handles.delete(call.result)
    const found = this.#recording.find(stringsIn(call.text)[0]?.toString() ?? '')
    if (!found) return
    const node = found.node ?? this.#recording.create(call, found, 'file')
    this.#handles.set(call.result, { node, position: 0 })
    if (found.node !== undefined && call.text.includes('O_TRUNC')) {
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
    if (a === undefined) return
    const clone = call.name === 'ioctl'
    const from = this.#handles.get(Number(clone ? c : a))
    const to = this.#handles.get(Number(clone ? a : c))
    if (!to || !('node' in to)) return
    if (!from || !('node' in from)) throw new Error('a file was copied in from outside')
    const length = clone ? Number.POSITIVE_INFINITY : call.result
    const change = { offset: Number(d), begin: Number(b), length }
    this.#recording.record(call, { kind: 'copy', file: to.node, from: from.node, ...change })
  }

  /** The calls that change names. */
  #rename(call: Call): void {
    const [one, other] = this.#pathsOf(call).map((path) => this.#recording.find(path))
    if (!one) return
    const { node } = one
    if (call.name.startsWith('mkdir')) this.#recording.create(call, one, 'directory')
    else if (node === undefined) return
    else if (call.name.startsWith('rename') && other) this.#recording.rename(call, one, other, node)
    else if (call.name.startsWith('link') && other) this.#recording.enter(call, other, node)
    else if (/^unlink|^rmdir/.test(call.name)) this.#recording.enter(call, one, null)
  }

  /** The paths of a call, also of one that names them from an open directory. */
  #pathsOf({ text }: Call): string[] {
    return [...text.matchAll(/(?:(\d+), )?"((?:\\x[0-9a-f]{2})*)"/g)].map(([, number, escaped]) => {
      const path = bytesOf(escaped ?? '').toString()
      const handle = number === undefined ? undefined : this.#handles.get(Number(number))
      if (path.startsWith('/') || !handle || !('node' in handle)) return path
      return `${this.#pathOf(handle.node)}/${path}`
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

const doneWords = {
  restored: ': restored from ',
  'moved-out': ': checked: ',
  'moved-in': ': the service of npub',
}

function stringsIn(text: string): Buffer[] {
  return [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, escaped = '']) => bytesOf(escaped))
}

function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex')
}

/** The calls of a trace that succeeded, in the order of their ends. */
function* callsOf(path: string, firstLine: number): Generator<Call> {
  const begun = new Map<string, { text: string; at: number }>()
  let done = firstLine - 1
  for (const whole of linesOf(path)) {
    done++
    const [, thread = '', line = ''] = /^(\d+) +(.*)$/s.exec(whole) ?? []
    // The number of a closed file is free for another thread before the call has returned.
    if (line.startsWith('close(')) {
      yield { name: 'close', text: line, result: 0, at: done, done }
      continue
    }
    if (line.endsWith(' <unfinished ...>')) {
      begun.set(thread, { text: line.slice(0, -' <unfinished ...>'.length), at: done })
      continue
    }
    const resumed = line.startsWith('<... ')
    const before = resumed ? begun.get(thread) : { text: '', at: done }
    if (resumed) begun.delete(thread)
    // The end of a close: it was yielded at its begin.
    if (!before) continue
    const rest = resumed ? line.slice(line.indexOf(' resumed>') + ' resumed>'.length) : line
    const text = before.text + rest
    const name = nameOf(text)
    const result = Number(/ = (\d+)$/.exec(text.slice(-40))?.[1] ?? -1)
    if (result >= 0) yield { name, text, result, at: before.at, done }
    else if (text.endsWith(' = ?')) begun.set(thread, before)
  }
  // A kill ended the process in these calls. An answer may have left, and more than that matters to nobody.
  for (const { text, at } of begun.values()) {
    const name = nameOf(text)
    if (name.startsWith('send')) yield { name, text, result: text.length, at, done: at }
  }
}

function nameOf(text: string): string {
  return text.slice(0, text.indexOf('('))
}

function* linesOf(path: string): Generator<string> {
  const piece = Buffer.alloc(1 << 22)
  const file = openSync(path, 'r')
  const { size } = statSync(path)
  let rest = ''
  try {
    for (let at = 0; at < size; ) {
      const read = readSync(file, piece, 0, piece.length, at)
      at += read
      const lines = (rest + piece.toString('latin1', 0, read)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    closeSync(file)
  }
}
