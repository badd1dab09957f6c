import { OperatorError } from '../base/operator-error.ts'

/** A parsed command line: plain words, and flags with their values. */
export type Arguments = { words: string[]; flags: Map<string, string> }

const short: Record<string, string> = { '-h': '--help', '-v': '--version' }

/** A word. One in 64 codes of cards begins with `-`: 16 bytes in base64url, in which there are capitals or digits. */
const word = /^(?!-)|^(?!--[a-z-]+$)[\w-]{21}[AQgw]$/

/**
 * Read `word --flag value --flag=value --switch -- word`: behind `--` all are words (POSIX, guideline 10). Flags in
 * `switches` take no value. Throws OperatorError `usage`.
 */
export function parseArguments(argv: readonly string[], switches: readonly string[]): Arguments {
  const words: string[] = []
  const flags = new Map<string, string>()
  const rest = [...argv]
  for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
    if (item === '--') return { words: [...words, ...rest], flags }
    if (word.test(item)) {
      words.push(item)
      continue
    }
    const [name = '', ...value] = (short[item] ?? item).slice(2).split('=')
    if (!/^--[a-z]|^-[hv]$/.test(item)) throw new OperatorError(`unknown flag ${item}`, 'usage')
    if (flags.has(name)) throw new OperatorError(`--${name} is given twice`, 'usage')
    if (value.length > 0 && switches.includes(name)) {
      throw new OperatorError(`--${name} takes no value`, 'usage')
    }
    if (value.length > 0) flags.set(name, value.join('='))
    else if (switches.includes(name)) flags.set(name, 'on')
    else flags.set(name, rest.shift() ?? missing(name))
  }
  return { words, flags }
}

function missing(name: string): never {
  throw new OperatorError(`--${name} needs a value`, 'usage')
}
