/**
 * Command that runs a program whose every sync of a file takes `delayMs` longer, as on an SD card. It needs strace. The
 * process id stays.
 */
export function withSlowSyncs(command: readonly string[], delayMs: number): string[] {
  const calls = 'fsync,fdatasync'
  // The filter of system calls lets all others through at full speed.
  const quick = ['-D', '-f', '--seccomp-bpf', '-qq', '--signal=!all', '-o', '/dev/null']
  const inject = `inject=${calls}:delay_enter=${Math.round(delayMs * 1000)}us`
  return ['strace', ...quick, '-e', `trace=${calls}`, '-e', inject, ...command]
}
