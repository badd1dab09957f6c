import { version } from '../../package.json'
import { StartError } from '../app.ts'
import { ConfigError, environment, flagOf, readConfig, settings } from '../config.ts'
import { NewerSchema } from '../db/migrations.ts'
import { KeyringError } from '../keyring.ts'
import { type Arguments, parseArguments, UsageError } from './arguments.ts'
import { serve } from './serve.ts'

/** Run the command that the arguments name; the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(parseArguments(argv, ['help', 'version']))
  } catch (cause) {
    // What an operator can mend is said in a line; anything else is a fault, with its trace.
    const expected = [UsageError, ConfigError, StartError, KeyringError, NewerSchema]
    if (!expected.some((type) => cause instanceof type) || !(cause instanceof Error)) throw cause
    for (const line of cause.message.split('\n')) console.error(`cuponera: ${line}`)
    return 1
  }
}

async function dispatch({ words, flags }: Arguments): Promise<number> {
  const [command = 'serve', ...operands] = words
  if (flags.has('help') || command === 'help') return print(help())
  if (flags.has('version') || command === 'version') return print(version)
  const refuseOperands = () => {
    if (operands.length > 0) throw new UsageError(`${command} takes no operand`)
  }
  switch (command) {
    case 'serve': {
      refuseOperands()
      const { config, warnings } = readConfig(flags, environment, process.stderr.isTTY)
      return serve(config, warnings)
    }
    default:
      throw new UsageError(`unknown command ${command}: see cuponera help`)
  }
}

function print(text: string): number {
  console.log(text)
  return 0
}

function help(): string {
  const rows = (Object.keys(settings) as (keyof typeof settings)[]).map((name) => {
    const { variable, about, shown } = settings[name]
    return `  --${flagOf(name).padEnd(20)} ${variable.padEnd(20)} ${about} (${shown})`
  })
  return [
    `Cuponera ${version}: coupons on Nostr for small merchants`,
    '',
    'Usage: cuponera [command] [--flag value]',
    '',
    'Commands:',
    '  serve (default)       run the service',
    '  version, help',
    '',
    'Settings (flag, environment variable; VARIABLE_FILE names a file that holds the value):',
    ...rows,
  ].join('\n')
}
