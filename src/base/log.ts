import { timestamp } from './clock.ts'

type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Fields of a log line. Never a nonce, key, token, sealed answer or query string. */
type LogFields = Record<string, unknown>

/** A log with one line per event: `log.info('voucher.refreshed', { handle })`. */
export type Log = Record<LogLevel, (event: string, fields?: LogFields) => void>

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Create a log that writes lines to standard error, as JSON or as plain text. */
export function createLog(least: LogLevel, format: 'json' | 'pretty'): Log {
  const write = (level: LogLevel) => {
    if (levels.indexOf(level) < levels.indexOf(least)) return () => undefined
    return (event: string, fields: LogFields = {}) => {
      const time = timestamp()
      const plain = Object.entries(fields).map(([name, value]) => [name, describe(value)] as const)
      console.error(
        format === 'json'
          ? JSON.stringify({ time, level, event, ...Object.fromEntries(plain) })
          : [time, level.padEnd(5), event, ...plain.map(pair)].join(' '),
      )
    }
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function pair([name, value]: readonly [string, unknown]): string {
  return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
}

/** Describe an error by type, code and stack. Its message is omitted, because it may quote untrusted data. */
function describe(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const code = 'code' in value ? String(value.code) : undefined
  const frames = (value.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return { type: value.name, code, at: frames.slice(0, 5).map((line) => line.trim()) }
}
