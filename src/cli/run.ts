import { version } from '../../package.json'
import { environment, flagOf, readConfig } from '../app/config.ts'
import { settings } from '../app/settings.ts'
import { OperatorError } from '../base/operator-error.ts'
import { diskErrorFrom } from '../db/disk-error.ts'
import { type Arguments, parseArguments } from './arguments.ts'
import { type Command, commands } from './commands.ts'

const switches = ['help', 'version', 'force', 'ncryptsec', 'new', 'all']

/** Other spellings of a command. */
const aliases = new Map([['licenses', 'licences']])

/** Run the command of the arguments. Returns the exit code: 1 for an error, 2 for a wrong command line. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(parseArguments(argv, switches))
  } catch (cause) {
    const error = cause instanceof OperatorError ? cause : diskErrorFrom(cause)
    // A fault keeps its trace.
    if (error === null) throw cause
    for (const line of error.message.split('\n')) console.error(`cuponera: ${line}`)
    return error.exitCode
  }
}

async function dispatch({ words, flags }: Arguments): Promise<number> {
  if (flags.has('help') || words[0] === 'help') return print(help())
  if (flags.has('version') || words[0] === 'version') return print(version)
  const { name, command, operands } = findCommand(words)
  const expected = command.operands?.split(' ') ?? []
  if (operands.length > expected.length && !expected.at(-1)?.includes('…')) {
    const takes = command.operands ? `takes ${command.operands} only` : 'takes no operand'
    throw new OperatorError(`${name} ${takes}, but got ${operands[expected.length]}`, 'usage')
  }
  if (operands.length < expected.filter((operand) => !operand.startsWith('[')).length) {
    throw new OperatorError(`${name} needs ${command.operands}`, 'usage')
  }
  const own = command.flags ?? []
  const known = new Set([...own, ...settingNames.map(flagOf)])
  for (const flag of flags.keys()) {
    if (!known.has(flag)) throw new OperatorError(`${name} knows no flag --${flag}`, 'usage')
  }
  // The remaining flags are settings, and override the environment.
  const given = new Map([...flags].filter(([flag]) => !own.includes(flag)))
  const { config, warnings } = readConfig(given, environment, process.stderr.isTTY)
  // `serve` writes warnings to its log.
  if (name !== 'serve') for (const warning of warnings) console.error(`cuponera: ${warning}`)
  return command.run({ config, warnings, operands, flags })
}

/** Find the command of the words. The longest name wins, so that `keys show` is one command. */
function findCommand(words: string[]): { name: string; command: Command; operands: string[] } {
  if (words.length === 0) words = ['serve']
  for (const length of [2, 1]) {
    const said = words.slice(0, length).join(' ')
    const name = aliases.get(said) ?? said
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command) return { name, command, operands: words.slice(length) }
  }
  const parts = Object.keys(commands).filter((name) => name.startsWith(`${words[0]} `))
  throw new OperatorError(
    parts.length > 0
      ? `${words[0]} needs one of: ${parts.join(', ')}`
      : `unknown command ${words[0]}: see cuponera help`,
    'usage',
  )
}

function print(text: string): number {
  console.log(text)
  return 0
}

const settingNames = Object.keys(settings) as (keyof typeof settings)[]

function help(): string {
  const rows = settingNames.map((name) => {
    const { variable, about, shown } = settings[name]
    return `  --${flagOf(name).padEnd(20)} ${variable.padEnd(20)} ${about} (${shown})`
  })
  const list = Object.entries(commands).map(([name, { operands = '', about }]) => {
    return `  ${`${name} ${operands}`.padEnd(22)} ${about}`
  })
  return [
    `Cuponera ${version}: coupons on Nostr for small merchants`,
    '',
    'Usage: cuponera [command] [--flag value]',
    '',
    'Commands:',
    ...list,
    '  version, help',
    '',
    'Settings (flag, environment variable; VARIABLE_FILE names a file that holds the value):',
    ...rows,
  ].join('\n')
}
