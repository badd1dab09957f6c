import { version } from '../../package.json'
import { type Config, environment, flagOf, readConfig } from '../app/config.ts'
import { settings } from '../app/settings.ts'
import { OperatorError } from '../base/operator-error.ts'
import { diskErrorFrom } from '../db/disk-error.ts'
import { type Arguments, parseArguments } from './arguments.ts'
import { backup } from './backup.ts'
import { simulateActivation, simulateCard, simulatePayment, simulateTap } from './card-sim.ts'
import { addCode, blockCard, deleteCard, initCard, listCards, showCardKeys } from './cards.ts'
import { check } from './check.ts'
import { demo } from './demo.ts'
import { findDemoTarget } from './demo-target.ts'
import { health } from './health.ts'
import { addIdentity, listIdentities, nonce, removeIdentity } from './identity.ts'
import { exportKeys, exportNcryptsec, importKeys, showKeys } from './keys.ts'
import { balances, issue, statement } from './ledger.ts'
import { licences } from './licences/licences.ts'
import { addMerchant, confirmMerchants, listMerchants, removeMerchant } from './merchants.ts'
import { moveBackHere, moveBetween, moveIn, moveOut } from './move.ts'
import { nodes } from './nodes.ts'
import { relays } from './relays.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { endKeySessions } from './sessions.ts'
import { setup } from './setup.ts'
import { sign } from './sign.ts'
import { status } from './status.ts'
import { tls } from './tls.ts'

type Input = { config: Config; warnings: string[]; operands: string[]; flags: Arguments['flags'] }

type Command = {
  /** Help text, one line. */
  about: string
  /** Operands after the name, one word each. Optional ones have brackets. */
  operands?: string
  /** Flags of this command. All settings are flags, too. */
  flags?: readonly string[]
  run: (input: Input) => Promise<number>
}

const switches = ['help', 'version', 'force', 'ncryptsec', 'new', 'all']

/** Commands of `cuponera`, by name. */
const commands: Record<string, Command> = {
  serve: {
    about: 'run the service (the default command)',
    run: ({ config, warnings }) => serve(config, warnings),
  },
  status: {
    about: 'version, address and process of the running server',
    run: ({ config }) => status(config),
  },
  health: {
    about: 'exit code 0 if the running server is ready, else 1',
    run: ({ config }) => health(config),
  },
  check: {
    about: 'verify the database, also of a running server; exit code 1 if there is a problem',
    run: ({ config }) => check(config),
  },
  setup: {
    about: 'show the code that lets the first merchant in (--new: replace it)',
    flags: ['new'],
    run: ({ config, flags }) => setup(config, flags.has('new')),
  },
  'merchants list': {
    about: 'list keys that may manage coupons, and owners of coupons that wait to be confirmed',
    run: ({ config }) => listMerchants(config),
  },
  'merchants add': {
    about: 'let a key manage its own coupons and add other merchants (--label)',
    operands: 'NPUB',
    flags: ['label'],
    run: ({ config, operands: [key = ''], flags }) => addMerchant(config, key, flags.get('label')),
  },
  'merchants remove': {
    about: 'remove a merchant; its vouchers stay valid',
    operands: 'NPUB',
    run: ({ config, operands: [key = ''] }) => removeMerchant(config, key),
  },
  'merchants confirm': {
    about: 'let owners of older coupons in: these keys, or --all',
    operands: '[NPUB…]',
    flags: ['all'],
    run: ({ config, operands, flags }) => confirmMerchants(config, operands, flags.has('all')),
  },
  relays: {
    about: 'show each relay: connected since, pending events, last error',
    run: ({ config }) => relays(config),
  },
  nodes: {
    about: 'list the nodes on the database of PostgreSQL: leader, version, schema, last seen',
    run: ({ config }) => nodes(config),
  },
  'sessions end': {
    about: 'end all sessions of a key, or of all keys with --all; older tokens are refused',
    operands: '[NPUB]',
    flags: ['all'],
    run: ({ config, operands: [key], flags }) =>
      endKeySessions(config, { key, all: flags.has('all') }),
  },
  nonce: {
    about: 'make a nonce that registers one identity',
    run: ({ config }) => nonce(config),
  },
  'identity add': {
    about:
      'give a name to a key (npub or hex); FILE holds the LUD-16 answer of its wallet, as JSON (--force: a reserved name)',
    operands: 'NAME KEY [FILE]',
    flags: ['force'],
    run: ({ config, operands: [name = '', key = '', file], flags }) =>
      addIdentity(config, { name, key, file, force: flags.has('force') }),
  },
  'identity list': {
    about: 'list names: key, date, and whether they take payments or vouchers',
    run: ({ config }) => listIdentities(config),
  },
  'identity remove': {
    about: 'take a name away from its key',
    operands: 'NAME',
    run: ({ config, operands: [name = ''] }) => removeIdentity(config, name),
  },
  'cards list': {
    about: 'list cards: UID, state, counter, holder',
    run: ({ config }) => listCards(config),
  },
  'cards init': {
    about:
      'register a tag and show the keys to write to it (--counter: its counter, --key-version: the keys that it has)',
    operands: 'UID',
    flags: ['counter', 'key-version'],
    run: ({ config, operands: [cid = ''], flags }) =>
      initCard(config, cid, {
        counter: wholeFlag(flags, 'counter'),
        version: wholeFlag(flags, 'key-version'),
      }),
  },
  'cards otc': {
    about:
      'add a one-time code (CODE, or a random one); the first wallet that sends it becomes the holder',
    operands: 'CARD [CODE]',
    run: ({ config, operands: [card = '', code] }) => addCode(config, card, code),
  },
  'cards disable': {
    about: 'disable a card (UID or UUID); its holder cannot enable it',
    operands: 'CARD',
    run: ({ config, operands: [card = ''] }) => blockCard(config, card, true),
  },
  'cards enable': {
    about: 'enable a disabled card again',
    operands: 'CARD',
    run: ({ config, operands: [card = ''] }) => blockCard(config, card, false),
  },
  'cards keys': {
    about: 'show the keys of a tag (--key-version: of a tag that the database does not know)',
    operands: 'UID',
    flags: ['key-version'],
    run: ({ config, operands: [cid = ''], flags }) =>
      showCardKeys(config, cid, wholeFlag(flags, 'key-version')),
  },
  'cards delete': {
    about: 'delete a card, and show the keys to wipe its tag',
    operands: 'UID',
    run: ({ config, operands: [cid = ''] }) => deleteCard(config, cid),
  },
  'card-sim new': {
    about:
      'make a card without hardware, activate it, and show the URL of its first tap (--url, --holder FILE)',
    flags: ['url', 'holder'],
    run: ({ config, flags }) => simulateCard(config, simulated(flags)),
  },
  'card-sim activate': {
    about: 'activate a card with its code, as a wallet does (--url, --holder FILE)',
    operands: 'CODE',
    flags: ['url', 'holder'],
    run: ({ config, operands: [otc = ''], flags }) =>
      simulateActivation(config, otc, simulated(flags)),
  },
  'card-sim tap': {
    about: 'show the URL that the next tap of a card opens (--url, --counter)',
    operands: 'UID',
    flags: ['url', 'counter'],
    run: ({ config, operands: [cid = ''], flags }) =>
      simulateTap(config, cid, { counter: wholeFlag(flags, 'counter'), url: flags.get('url') }),
  },
  'card-sim pay': {
    about: 'tap a card and pay with it, to --to or to a new key (--url)',
    operands: 'UID TOKEN AMOUNT',
    flags: ['url', 'to'],
    run: ({ config, operands: [cid = '', token = '', amount = ''], flags }) =>
      simulatePayment(config, { cid, token, amount, to: flags.get('to') }, flags.get('url')),
  },
  backup: {
    about:
      'write a verified copy of the database, also of a running server (--force replaces FILE)',
    operands: 'FILE',
    flags: ['force'],
    run: ({ config, operands: [file = ''], flags }) => backup(config, file, flags.has('force')),
  },
  restore: {
    about:
      'replace the database by a backup (--force if there is a database); without FILE: settle one of PostgreSQL that was brought back',
    operands: '[FILE]',
    flags: ['force'],
    run: ({ config, operands: [file], flags }) =>
      restore(config, file, { force: flags.has('force') }),
  },
  move: {
    about:
      'with the service stopped: move its database from a data directory to postgres://…, or back (--from, --to; one of them may be DATABASE_URL)',
    flags: ['from', 'to'],
    run: ({ config, flags }) =>
      moveBetween(config, { from: flags.get('from'), to: flags.get('to') }),
  },
  'move out': {
    about:
      'with the service stopped: close it for good, and write all of it to FILE for another computer (--passphrase-file, --force)',
    operands: 'FILE',
    flags: ['force', 'passphrase-file'],
    run: ({ config, operands: [file = ''], flags }) => moveOut(config, file, keyOptions(flags)),
  },
  'move in': {
    about: 'let a service from another computer into a new data directory (--passphrase-file)',
    operands: 'FILE',
    flags: ['passphrase-file'],
    run: ({ config, operands: [file = ''], flags }) => moveIn(config, file, keyOptions(flags)),
  },
  'move back': {
    about: 'open a service again that was closed for a move (--force)',
    flags: ['force'],
    run: ({ config, flags }) => moveBackHere(config, flags.has('force')),
  },
  'ledger balances': {
    about: 'show the balances of the embedded ledger, or of one key',
    operands: '[KEY]',
    run: ({ config, operands: [key] }) => balances(config, key),
  },
  'ledger issue': {
    about: 'issue tokens of the manager key to a key; an amount such as 1500.50 (--memo)',
    operands: 'TOKEN KEY AMOUNT',
    flags: ['memo'],
    run: ({ config, operands: [token = '', to = '', amount = ''], flags }) =>
      issue(config, { token, to, amount, memo: flags.get('memo') ?? null }),
  },
  'ledger statement': {
    about: 'print the movements of a key as CSV (--token for one token)',
    operands: 'KEY',
    flags: ['token'],
    run: ({ config, operands: [key = ''], flags }) => statement(config, key, flags.get('token')),
  },
  tls: {
    about:
      'make an authority and a certificate for https in the shop; later: renew the certificate',
    run: ({ config }) => tls(config),
  },
  'keys show': {
    about: 'show the source of each key, and its public key or fingerprint',
    run: ({ config }) => showKeys(config),
  },
  'keys export': {
    about:
      'write all keys to FILE, encrypted with a passphrase (--passphrase-file, --force); --ncryptsec without FILE prints the manager key (NIP-49)',
    operands: '[FILE]',
    flags: ['force', 'passphrase-file', 'ncryptsec'],
    run: ({ config, operands: [file], flags }) => {
      if (flags.has('ncryptsec') === (file !== undefined)) {
        throw new OperatorError('keys export needs either FILE or --ncryptsec', 'usage')
      }
      return file === undefined
        ? exportNcryptsec(config, keyOptions(flags))
        : exportKeys(config, file, keyOptions(flags))
    },
  },
  'keys import': {
    about: 'import exported keys (--passphrase-file, --force)',
    operands: 'FILE',
    flags: ['force', 'passphrase-file'],
    run: ({ config, operands: [file = ''], flags }) => importKeys(config, file, keyOptions(flags)),
  },
  sign: {
    about: 'print the header that signs one request, for curl -H (--key FILE, made if missing)',
    operands: 'METHOD URL [BODY]',
    flags: ['key'],
    run: async ({ operands: [method = '', url = '', body = null], flags }) =>
      sign({ method, url, body, keyFile: flags.get('key') }),
  },
  licences: {
    about: 'print the licences of this program and of all its parts',
    run: () => licences(),
  },
  demo: {
    about: "test a coupon's whole life against a running server (--url; default: on this machine)",
    flags: ['url'],
    run: async ({ config, flags }) => demo(await findDemoTarget(config, flags.get('url'))),
  },
}

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

function keyOptions(flags: Arguments['flags']) {
  return { force: flags.has('force'), passphraseFile: flags.get('passphrase-file') }
}

function simulated(flags: Arguments['flags']) {
  return { url: flags.get('url'), holderFile: flags.get('holder') }
}

function wholeFlag(flags: Arguments['flags'], name: string): number | undefined {
  const text = flags.get(name)
  if (text !== undefined && !/^\d{1,8}$/.test(text))
    throw new OperatorError(`--${name} takes a number`, 'usage')
  return text === undefined ? undefined : Number(text)
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
