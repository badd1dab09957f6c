import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** Calls that change files, bring them to the disk, carry requests and answers, or copy descriptors. */
const traced = [
  ...['open', 'openat', 'openat2', 'creat', 'close', 'close_range', 'dup', 'dup2', 'dup3', 'fcntl'],
  ...['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'lseek', 'sendfile', 'splice'],
  ...['fsync', 'fdatasync', 'sync_file_range', 'sync', 'syncfs', 'mmap', 'fallocate'],
  ...['ftruncate', 'truncate', 'copy_file_range', 'ioctl', 'rename', 'renameat', 'renameat2'],
  ...['link', 'linkat', 'symlink', 'symlinkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir'],
  ...['mknod', 'mknodat', 'chdir', 'fchdir', 'clone', 'clone3', 'fork', 'vfork'],
  ...['io_setup', 'io_submit', 'io_uring_setup', 'accept4', 'sendto', 'sendmsg', 'recvfrom'],
]

/** The numbers of the syncs of each thread that fail, as strace writes them (`40+7`, `60+`). SQLite makes them by fsync. */
export type Failing = { fsync: string; fdatasync: string }

/** The syncs of a recorded program. With a delay of each, no fsync fails, because strace does one thing to a call. */
export type Syncs = { failing?: Failing | null; syncMs?: number }

/** The command line that records the calls of a program, of its threads and of its children in a file. */
export function tracing(
  output: string,
  command: readonly string[],
  { failing = null, syncMs = 0 }: Syncs = {},
): string[] {
  const format = ['-ttt', '-qq', '-xx', '-s', '67108864', '-e', 'signal=none']
  // A system has only some of these calls: `?` leaves out the others.
  const calls = traced.map((name) => `?${name}`).join(',')
  const faults = (['fsync', 'fdatasync'] as const).flatMap((call) => {
    const late = syncMs > 0 && !(failing && call === 'fdatasync')
    if (late) return ['-e', `inject=${call}:delay_enter=${syncMs * 1000}us`]
    return failing ? ['-e', `inject=${call}:error=EIO:when=${failing[call]}`] : []
  })
  const options = ['-f', '--seccomp-bpf', ...format, '-e', `trace=${calls}`, ...faults]
  return ['strace', ...options, '-o', output, '--', ...command]
}

/**
 * A call that succeeded, or a sync that failed: its result is -1. `at` and `done`: the lines of the trace on which it
 * began and ended. `time`: the Unix time at which the last one was written, in seconds.
 */
export type Call = {
  name: string
  text: string
  result: number
  thread: string
  at: number
  done: number
  time: number
}

export function stringsIn(text: string): Buffer[] {
  return [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, escaped = '']) => bytesOf(escaped))
}

export function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex')
}

/** True for the begin of a process that gets descriptors of its own. */
export function isFork(text: string): boolean {
  return /^(clone3?|v?fork)\(/.test(text) && !text.includes('CLONE_FILES')
}

/** The calls of a trace that succeeded, and the syncs that failed, in the order of their ends. */
export function* callsOf(path: string, firstLine: number): Generator<Call> {
  const begun = new Map<string, { text: string; at: number }>()
  let done = firstLine - 1
  let time = 0
  for (const whole of linesOf(path)) {
    done++
    const [, thread = '', clock = '', line = ''] =
      /^(\d+) +(?:(\d+\.\d+) )?(.*)$/s.exec(whole) ?? []
    if (clock !== '') time = Number(clock)
    const call = (text: string, result: number, at: number): Call => {
      return { name: nameOf(text), text, result, thread, at, done, time }
    }
    const unfinished = line.endsWith(' <unfinished ...>')
    // The number of a closed file is free for another thread, and a new process runs, before the call has returned.
    if (line.startsWith('close(') || (unfinished && isFork(line))) {
      yield call(line, 0, done)
      continue
    }
    if (unfinished) {
      begun.set(thread, { text: line.slice(0, -' <unfinished ...>'.length), at: done })
      continue
    }
    const resumed = line.startsWith('<... ')
    const before = resumed ? begun.get(thread) : { text: '', at: done }
    if (resumed) begun.delete(thread)
    // The end of a call that was yielded at its begin.
    if (!before) continue
    const rest = resumed ? line.slice(line.indexOf(' resumed>') + ' resumed>'.length) : line
    const text = before.text + rest
    const result = Number(/ = (\d+)(?: \([A-Z_ |]+\))?$/.exec(text.slice(-80))?.[1] ?? -1)
    if (result >= 0 || / = 0x[0-9a-f]+$/.test(text.slice(-40))) {
      yield call(text, Math.max(result, 0), before.at)
    } else if (/^f(data)?sync\(.* = -1 E/.test(text)) yield call(text, -1, before.at)
    else if (text.endsWith(' = ?')) begun.set(thread, before)
  }
  // A kill ended the process in these calls. An answer may have left, and more than that matters to nobody.
  for (const [thread, { text, at }] of begun) {
    const name = nameOf(text)
    if (name.startsWith('send'))
      yield { name, text, result: text.length, thread, at, done: at, time }
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
