import type { Config } from '../app/config.ts'
import { OperatorError } from '../base/operator-error.ts'
import type { Arguments } from './arguments.ts'

type Input = { config: Config; warnings: string[]; operands: string[]; flags: Arguments['flags'] }

export type Command = {
  /** Help text, one line. */
  about: string
  /** Operands after the name, one word each. Optional ones have brackets. */
  operands?: string
  /** Flags of this command. All settings are flags, too. */
  flags?: readonly string[]
  run: (input: Input) => Promise<number>
}

/** Commands of `cuponera`, by name. Each imports its module when it runs, so that a short one starts in a moment. */
export const commands: Record<string, Command> = {
  serve: {
    about: 'run the service (the default command)',
    run: async ({ config, warnings }) => (await import('./serve.ts')).serve(config, warnings),
  },
  status: {
    about: 'version, address and process of the running server',
    run: async ({ config }) => (await import('./status.ts')).status(config),
  },
  health: {
    about: 'exit code 0 if the running server is ready, else 1',
    run: async ({ config }) => (await import('./health.ts')).health(config),
  },
  check: {
    about: 'verify the database, also of a running server; exit code 1 if there is a problem',
    run: async ({ config }) => (await import('./check.ts')).check(config),
  },
  setup: {
    about: 'show the code that lets the first merchant in (--new: replace it)',
    flags: ['new'],
    run: async ({ config, flags }) => (await import('./setup.ts')).setup(config, flags.has('new')),
  },
  'merchants list': {
    about: 'list keys that may manage coupons, and owners of coupons that wait to be confirmed',
    run: async ({ config }) => (await import('./merchants.ts')).listMerchants(config),
  },
  'merchants add': {
    about: 'let a key manage its own coupons and add other merchants (--label)',
    operands: 'NPUB',
    flags: ['label'],
    run: async ({ config, operands: [key = ''], flags }) =>
      (await import('./merchants.ts')).addMerchant(config, key, flags.get('label')),
  },
  'merchants remove': {
    about: 'remove a merchant; its vouchers stay valid',
    operands: 'NPUB',
    run: async ({ config, operands: [key = ''] }) =>
      (await import('./merchants.ts')).removeMerchant(config, key),
  },
  'merchants confirm': {
    about: 'let owners of older coupons in: these keys, or --all',
    operands: '[NPUB…]',
    flags: ['all'],
    run: async ({ config, operands, flags }) =>
      (await import('./merchants.ts')).confirmMerchants(config, operands, flags.has('all')),
  },
  relays: {
    about: 'show each relay: connected since, pending events, last error',
    run: async ({ config }) => (await import('./relays.ts')).relays(config),
  },
  nodes: {
    about: 'list the nodes on the database of PostgreSQL: leader, version, schema, last seen',
    run: async ({ config }) => (await import('./nodes.ts')).nodes(config),
  },
  'sessions end': {
    about: 'end all sessions of a key, or of all keys with --all; older tokens are refused',
    operands: '[NPUB]',
    flags: ['all'],
    run: async ({ config, operands: [key], flags }) =>
      (await import('./sessions.ts')).endKeySessions(config, { key, all: flags.has('all') }),
  },
  nonce: {
    about: 'make a nonce that registers one identity',
    run: async ({ config }) => (await import('./identity.ts')).nonce(config),
  },
  'identity add': {
    about:
      'give a name to a key (npub or hex); FILE holds the LUD-16 answer of its wallet, as JSON (--force: a reserved name)',
    operands: 'NAME KEY [FILE]',
    flags: ['force'],
    run: async ({ config, operands: [name = '', key = '', file], flags }) =>
      (await import('./identity.ts')).addIdentity(config, {
        name,
        key,
        file,
        force: flags.has('force'),
      }),
  },
  'identity list': {
    about: 'list names: key, date, and whether they take payments or vouchers',
    run: async ({ config }) => (await import('./identity.ts')).listIdentities(config),
  },
  'identity remove': {
    about: 'take a name away from its key',
    operands: 'NAME',
    run: async ({ config, operands: [name = ''] }) =>
      (await import('./identity.ts')).removeIdentity(config, name),
  },
  'cards list': {
    about: 'list cards: UID, state, counter, holder',
    run: async ({ config }) => (await import('./cards.ts')).listCards(config),
  },
  'cards init': {
    about:
      'register a tag and show the keys to write to it (--counter: its counter, --key-version: the keys that it has)',
    operands: 'UID',
    flags: ['counter', 'key-version'],
    run: async ({ config, operands: [cid = ''], flags }) =>
      (await import('./cards.ts')).initCard(config, cid, {
        counter: wholeFlag(flags, 'counter'),
        version: wholeFlag(flags, 'key-version'),
      }),
  },
  'cards otc': {
    about:
      'add a one-time code (CODE, or a random one); the first wallet that sends it becomes the holder',
    operands: 'CARD [CODE]',
    run: async ({ config, operands: [card = '', code] }) =>
      (await import('./cards.ts')).addCode(config, card, code),
  },
  'cards disable': {
    about: 'disable a card (UID or UUID); its holder cannot enable it',
    operands: 'CARD',
    run: async ({ config, operands: [card = ''] }) =>
      (await import('./cards.ts')).blockCard(config, card, true),
  },
  'cards enable': {
    about: 'enable a disabled card again',
    operands: 'CARD',
    run: async ({ config, operands: [card = ''] }) =>
      (await import('./cards.ts')).blockCard(config, card, false),
  },
  'cards keys': {
    about: 'show the keys of a tag (--key-version: of a tag that the database does not know)',
    operands: 'UID',
    flags: ['key-version'],
    run: async ({ config, operands: [cid = ''], flags }) =>
      (await import('./cards.ts')).showCardKeys(config, cid, wholeFlag(flags, 'key-version')),
  },
  'cards delete': {
    about: 'delete a card, and show the keys to wipe its tag',
    operands: 'UID',
    run: async ({ config, operands: [cid = ''] }) =>
      (await import('./cards.ts')).deleteCard(config, cid),
  },
  'card-sim new': {
    about:
      'make a card without hardware, activate it, and show the URL of its first tap (--url, --holder FILE)',
    flags: ['url', 'holder'],
    run: async ({ config, flags }) =>
      (await import('./card-sim.ts')).simulateCard(config, simulated(flags)),
  },
  'card-sim activate': {
    about: 'activate a card with its code, as a wallet does (--url, --holder FILE)',
    operands: 'CODE',
    flags: ['url', 'holder'],
    run: async ({ config, operands: [otc = ''], flags }) =>
      (await import('./card-sim.ts')).simulateActivation(config, otc, simulated(flags)),
  },
  'card-sim tap': {
    about: 'show the URL that the next tap of a card opens (--url, --counter)',
    operands: 'UID',
    flags: ['url', 'counter'],
    run: async ({ config, operands: [cid = ''], flags }) =>
      (await import('./card-sim.ts')).simulateTap(config, cid, {
        counter: wholeFlag(flags, 'counter'),
        url: flags.get('url'),
      }),
  },
  'card-sim pay': {
    about: 'tap a card and pay with it, to --to or to a new key (--url)',
    operands: 'UID TOKEN AMOUNT',
    flags: ['url', 'to'],
    run: async ({ config, operands: [cid = '', token = '', amount = ''], flags }) =>
      (await import('./card-sim.ts')).simulatePayment(
        config,
        { cid, token, amount, to: flags.get('to') },
        flags.get('url'),
      ),
  },
  backup: {
    about:
      'write a verified copy of the database, also of a running server (--force replaces FILE)',
    operands: 'FILE',
    flags: ['force'],
    run: async ({ config, operands: [file = ''], flags }) =>
      (await import('./backup.ts')).backup(config, file, flags.has('force')),
  },
  restore: {
    about:
      'replace the database by a backup (--force if there is a database); without FILE: settle one of PostgreSQL that was brought back',
    operands: '[FILE]',
    flags: ['force'],
    run: async ({ config, operands: [file], flags }) =>
      (await import('./restore.ts')).restore(config, file, { force: flags.has('force') }),
  },
  move: {
    about:
      'with the service stopped: move its database from a data directory to postgres://…, or back (--from, --to; one of them may be DATABASE_URL)',
    flags: ['from', 'to'],
    run: async ({ config, flags }) =>
      (await import('./move.ts')).moveBetween(config, {
        from: flags.get('from'),
        to: flags.get('to'),
      }),
  },
  'move out': {
    about:
      'with the service stopped: close it for good, and write all of it to FILE for another computer (--passphrase-file, --force)',
    operands: 'FILE',
    flags: ['force', 'passphrase-file'],
    run: async ({ config, operands: [file = ''], flags }) =>
      (await import('./move.ts')).moveOut(config, file, keyOptions(flags)),
  },
  'move in': {
    about: 'let a service from another computer into a new data directory (--passphrase-file)',
    operands: 'FILE',
    flags: ['passphrase-file'],
    run: async ({ config, operands: [file = ''], flags }) =>
      (await import('./move.ts')).moveIn(config, file, keyOptions(flags)),
  },
  'move back': {
    about: 'open a service again that was closed for a move (--force)',
    flags: ['force'],
    run: async ({ config, flags }) =>
      (await import('./move.ts')).moveBackHere(config, flags.has('force')),
  },
  'ledger balances': {
    about: 'show the balances of the embedded ledger, or of one key',
    operands: '[KEY]',
    run: async ({ config, operands: [key] }) => (await import('./ledger.ts')).balances(config, key),
  },
  'ledger issue': {
    about: 'issue tokens of the manager key to a key; an amount such as 1500.50 (--memo)',
    operands: 'TOKEN KEY AMOUNT',
    flags: ['memo'],
    run: async ({ config, operands: [token = '', to = '', amount = ''], flags }) =>
      (await import('./ledger.ts')).issue(config, {
        token,
        to,
        amount,
        memo: flags.get('memo') ?? null,
      }),
  },
  'ledger statement': {
    about: 'print the movements of a key as CSV (--token for one token)',
    operands: 'KEY',
    flags: ['token'],
    run: async ({ config, operands: [key = ''], flags }) =>
      (await import('./ledger.ts')).statement(config, key, flags.get('token')),
  },
  tls: {
    about:
      'make an authority and a certificate for https in the shop; later: renew the certificate',
    run: async ({ config }) => (await import('./tls.ts')).tls(config),
  },
  'keys show': {
    about: 'show the source of each key, and its public key or fingerprint',
    run: async ({ config }) => (await import('./keys.ts')).showKeys(config),
  },
  'keys export': {
    about:
      'write all keys to FILE, encrypted with a passphrase (--passphrase-file, --force); --ncryptsec without FILE prints the manager key (NIP-49)',
    operands: '[FILE]',
    flags: ['force', 'passphrase-file', 'ncryptsec'],
    run: async ({ config, operands: [file], flags }) => {
      if (flags.has('ncryptsec') === (file !== undefined)) {
        throw new OperatorError('keys export needs either FILE or --ncryptsec', 'usage')
      }
      return file === undefined
        ? (await import('./keys.ts')).exportNcryptsec(config, keyOptions(flags))
        : (await import('./keys.ts')).exportKeys(config, file, keyOptions(flags))
    },
  },
  'keys import': {
    about: 'import exported keys (--passphrase-file, --force)',
    operands: 'FILE',
    flags: ['force', 'passphrase-file'],
    run: async ({ config, operands: [file = ''], flags }) =>
      (await import('./keys.ts')).importKeys(config, file, keyOptions(flags)),
  },
  sign: {
    about: 'print the header that signs one request, for curl -H (--key FILE, made if missing)',
    operands: 'METHOD URL [BODY]',
    flags: ['key'],
    run: async ({ operands: [method = '', url = '', body = null], flags }) =>
      (await import('./sign.ts')).sign({ method, url, body, keyFile: flags.get('key') }),
  },
  licences: {
    about: 'print the licences of this program and of all its parts',
    run: async () => (await import('./licences/licences.ts')).licences(),
  },
  demo: {
    about: "test a coupon's whole life against a running server (--url; default: on this machine)",
    flags: ['url'],
    run: async ({ config, flags }) => {
      const { findDemoTarget } = await import('./demo-target.ts')
      const { demo } = await import('./demo.ts')
      return demo(await findDemoTarget(config, flags.get('url')))
    },
  },
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
