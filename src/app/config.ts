import { readFileSync } from 'node:fs'
import { OperatorError } from '../base/operator-error.ts'
import { type Setting, settings } from './settings.ts'

type Settings = typeof settings
type Name = keyof Settings
type Values = { [K in Name]: Settings[K]['fallback'] }

/** The values of all settings, read once and frozen. */
export type Config = Readonly<Values & { logFormat: NonNullable<Values['logFormat']> }>

const names = Object.keys(settings) as Name[]

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of the process: the only place that reads it. */
export const environment: Environment = process.env

/**
 * Settings from flags (`--port 4000`), then variables, then files (`X_FILE`), then defaults.
 * Throws OperatorError with every problem; `warnings` name variables that are nearly one of ours.
 */
export function readConfig(
  flags: ReadonlyMap<string, string>,
  env: Environment,
  terminal: boolean,
): { config: Config; warnings: string[] } {
  const problems: string[] = []
  for (const flag of flags.keys()) {
    if (!names.some((name) => flagOf(name) === flag)) problems.push(`unknown flag --${flag}`)
  }
  const read = (name: Name) => {
    const { variable, fallback, parse }: Setting<unknown> = settings[name]
    try {
      const text = flags.get(flagOf(name))?.trim() || fromEnvironment(variable, env)
      return text === undefined || text.trim() === '' ? fallback : parse(text.trim())
    } catch (cause) {
      // The value may be a secret, so the message names only the expected form.
      problems.push(`${variable}: ${cause instanceof Error ? cause.message : 'not readable'}`)
      return fallback
    }
  }
  const values = Object.fromEntries(names.map((name) => [name, read(name)])) as Values
  const config = { ...values, logFormat: values.logFormat ?? (terminal ? 'pretty' : 'json') }
  if ((values.tlsCert === null) !== (values.tlsKey === null)) {
    problems.push('TLS_CERT and TLS_KEY: set both or neither')
  }
  problems.push(...privateProblems(values))
  if (problems.length > 0) throw new OperatorError(problems.join('\n'))
  return { config: Object.freeze(config), warnings: nearMisses(env) }
}

/** Private services are for a desk. A public service would let strangers reach what is behind its firewall. */
function privateProblems({ allowPrivateServices, publicUrls, voucherServices }: Values): string[] {
  const problems: string[] = []
  if (allowPrivateServices.size > 0 && publicUrls.some((url) => url.startsWith('https:'))) {
    problems.push('ALLOW_PRIVATE_SERVICES: for development only, not with a PUBLIC_URL of https')
  }
  for (const address of voucherServices.values()) {
    const { protocol, origin } = new URL(address)
    if (protocol === 'https:' || allowPrivateServices.has(origin)) continue
    problems.push('VOUCHER_SERVICES: expected https, or a service of ALLOW_PRIVATE_SERVICES')
    break
  }
  return problems
}

/** The flag of a setting: `PUBLIC_URL` is `--public-url`. */
export function flagOf(name: Name): string {
  return settings[name].variable.toLowerCase().replaceAll('_', '-')
}

function fromEnvironment(variable: string, env: Environment): string | undefined {
  const value = env[variable]
  if (value !== undefined && value.trim() !== '') return value
  const file = env[`${variable}_FILE`]
  if (file === undefined || file.trim() === '') return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new Error(`the file that ${variable}_FILE names cannot be read`)
  }
}

/** Variables that look like a mistyped name of ours: one or two letters off, or in another case. */
function nearMisses(env: Environment): string[] {
  const ours = names.flatMap((name) => {
    const { variable } = settings[name]
    return [variable, `${variable}_FILE`]
  })
  return Object.keys(env).flatMap((name) => {
    if (ours.includes(name)) return []
    const upper = name.toUpperCase()
    const near = ours.find((known) => upper === known || isNear(upper, known))
    return near ? [`${name} is set, but not used: did you mean ${near}?`] : []
  })
}

function isNear(name: string, known: string): boolean {
  if (known.length < 8 || Math.abs(name.length - known.length) > 2) return false
  // Two letters off leave one third as it is: hardly any pair comes to the distance, which takes long.
  const third = Math.floor(known.length / 3)
  const parts = [known.slice(0, third), known.slice(third, 2 * third), known.slice(2 * third)]
  return parts.some((part) => name.includes(part)) && editDistance(name, known) <= 2
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...b].entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      const added = Math.min(current[column] ?? 0, previous[column + 1] ?? 0) + 1
      current.push(Math.min(replaced, added))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
