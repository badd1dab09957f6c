import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nodeRules } from '../../src/app/agreement.ts'
import { flagOf } from '../../src/app/config.ts'
import { settings } from '../../src/app/settings.ts'
import { limits } from '../../src/base/limits.ts'
import { httpStatusOf, type RefusalCode, refusalCodes } from '../../src/base/refusal.ts'
import { announcementRoutes } from '../../src/coupons/announcement-routes.ts'
import { imageRoutes } from '../../src/coupons/image-routes.ts'
import { liveRoutes } from '../../src/coupons/live-routes.ts'
import { managementRoutes } from '../../src/coupons/management-routes.ts'
import { minterRoutes } from '../../src/coupons/minter-routes.ts'
import { BenefitModel } from '../../src/coupons/models.ts'
import { voucherRoutes } from '../../src/coupons/voucher-routes.ts'
import { gatewayRoutes } from '../../src/gateway/routes.ts'
import { noRateLimits } from '../../src/http/rate-limit.ts'
import { merchantRoutes } from '../../src/merchants/roster-routes.ts'
import { setupRoutes } from '../../src/merchants/setup-routes.ts'
import { arrivalRoutes } from '../../src/move/arrival-routes.ts'
import { moveRoutes } from '../../src/move/routes.ts'
import { type NostrEvent, parseEvent } from '../../src/nostr/event.ts'
import { pictureRoutes } from '../../src/pictures/routes.ts'
import { posterRoutes, shownPosterRoutes } from '../../src/posters/routes.ts'
import { relayRoutes } from '../../src/relay/routes.ts'
import { sessionRoutes } from '../../src/session/routes.ts'
import { shopRoutes } from '../../src/shops/routes.ts'
import { holderRoutes } from '../../src/wallet/cards/holders/routes.ts'
import { payRoutes } from '../../src/wallet/cards/payments/routes.ts'
import { tagRoutes } from '../../src/wallet/cards/tags/routes.ts'
import { tapRoutes } from '../../src/wallet/cards/taps/routes.ts'
import { directoryRoutes } from '../../src/wallet/identities/directory-routes.ts'
import { identityRoutes } from '../../src/wallet/identities/routes.ts'
import { signupRoutes } from '../../src/wallet/identities/signup-routes.ts'
import { ledgerRoutes } from '../../src/wallet/ledger/routes.ts'
import { inboxRoutes } from '../../src/wallet/transfers/inbox-routes.ts'
import { transferRoutes } from '../../src/wallet/transfers/routes.ts'
import {
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  verifyEvent,
} from '../support/client.ts'
import { gatewayPage, startFaultyProxy } from '../support/faulty-proxy.ts'
import { cleanUp, startServer } from '../support/server.ts'

const root = join(import.meta.dir, '../..')
const protocol = apiPages().map(readText).join('\n')
const readme = readText('README.md')

afterAll(cleanUp)

// ── docs/api: routes

test('the protocol describes every route of the source, and no other', () => {
  expect(describedRoutes()).toEqual(sourceRoutes())
})

test('each route names every code that it refuses with', () => {
  const missing = couponRoutes().flatMap(({ name, refusals }) =>
    refusals
      .filter((code) => !sectionOf(name).includes(`\`${code}\``))
      .map((code) => `${name}: ${code}`),
  )
  expect(missing).toEqual([])
})

// ── docs/api: pages

test('each page of the protocol is short, and its index leads to it', () => {
  const index = readText('docs/api/index.md')
  for (const page of apiPages()) {
    const text = readText(page)
    // The catalogue is looked up, not read.
    const most = page === 'docs/api/errors.md' ? 30_000 : 14_000
    const long = { lines: text.split('\n').length > 280, characters: text.length > most }
    expect({ page, ...long }).toEqual({ page, lines: false, characters: false })
    const name = page.slice('docs/api/'.length)
    if (name !== 'index.md') expect(index).toContain(`](${name})`)
  }
})

test('no heading of the protocol occurs twice', () => {
  const plain = protocol.replaceAll(/^```[\s\S]*?^```/gm, '')
  const headings: string[] = plain.match(/^#+ .*$/gm) ?? []
  expect(headings.filter((heading, at) => headings.indexOf(heading) !== at)).toEqual([])
})

// ── docs/api: tables

test('the catalogue lists every code in alphabetical order, with an anchor', () => {
  const codes = rowsUnder('# Errors').map(([code]) => code as string)
  const known = refusalCodes.map((code): string => `<a id="${code}"></a>\`${code}\``)
  expect(codes).toEqual(known.toSorted(byText))
})

test('the catalogue has every status that a route answers a code with', () => {
  const found = new Map<RefusalCode, Set<number>>()
  const note = (code: RefusalCode, status: number) =>
    found.set(code, (found.get(code) ?? new Set()).add(status))
  for (const { refused, told } of couponRoutes()) {
    for (const code of refused) note(code, httpStatusOf({ code }))
    for (const code of told) note(code, 200)
  }
  const rows = rowsUnder('# Errors').map(([code = '', statuses = '']) => {
    return [code.replace(/^.*`(.+)`$/, '$1'), statuses] as const
  })
  const answered = refusalCodes.toSorted(byText).map((code) => {
    const statuses = [...(found.get(code) ?? [httpStatusOf({ code })])]
    return [code, statuses.toSorted((a, b) => a - b).join(', ')] as const
  })
  expect(rows).toEqual(answered)
})

test('the documented types of benefits are those of the model', () => {
  const types = BenefitModel.anyOf.map(({ properties }) => `\`${properties.type.const}\``)
  expect(rowsUnder('## Benefits').map(([type]) => type)).toEqual(types)
})

test('the documented limits are those of the code', () => {
  const documented = Object.fromEntries(
    rowsUnder('## Limits').map(([what = '', limit = '']) => [what, limit]),
  )
  const known: Record<string, string> = {
    'request body': `${spaced(limits.bodyBytesMax)} bytes`,
    '`Authorization` header': `${spaced(limits.authorizationBytesMax)} bytes`,
    'time for a body to arrive': `${limits.bodyReadSeconds} seconds`,
    '`name`': `1 to ${limits.nameCharsMax} characters`,
    '`description`': `up to ${limits.descriptionCharsMax} characters`,
    '`image`': `up to ${limits.imageCharsMax} characters`,
    '`label` of a minter or a poster': `up to ${limits.labelCharsMax} characters`,
    '`pubkey` of a minter, as text': `up to ${spaced(limits.keyTextMax)} characters`,
    'product reference': `1 to ${limits.productCharsMax} characters`,
    '`productDs`': `up to ${limits.productsMax}`,
    '`items`': `1 to ${limits.itemsMax}`,
    '`buyQty`, `payQty`, `qty`': `1 to ${limits.quantityMax}`,
    '`amount`': `up to ${spaced(limits.amountMax)}`,
    '`maxUses`': `1 to ${spaced(limits.maxUsesMax)}`,
    '`expiresAt`, `startsAt`': `up to ${spaced(limits.timestampMax)}`,
    '`conditions`': `up to ${limits.conditionsCharsMax} characters`,
    '`windows`': `1 to ${limits.ruleWindowsMax}`,
    '`timeZone`': `up to ${limits.timeZoneCharsMax} characters`,
    '`count` of a mint': `1 to ${limits.mintCountMax}`,
    '`zapRequest`': `up to ${spaced(limits.zapRequestCharsMax)} characters`,
    '`Idempotency-Key`': '8 to 255 visible ASCII characters',
    'page `limit`': `1 to ${limits.pageMax}, ${limits.pageDefault} if absent`,
    'definitions of one owner': spaced(limits.definitionsPerOwnerMax),
    'minters of one owner': spaced(limits.mintersPerOwnerMax),
    'posters of one owner': spaced(limits.postersPerOwnerMax),
    'an uploaded picture': `${spaced(limits.pictureBytesMax)} bytes, ${spaced(limits.pictureSideMax)} pixels a side`,
    'uploaded pictures of one owner, in use': `${limits.picturesPerOwnerMax}, of ${spaced(limits.pictureBytesPerOwnerMax)} bytes in all`,
    'uploaded pictures of one owner, with those that are kept': `${spaced(limits.picturesKeptPerOwnerMax)}, of ${spaced(limits.pictureBytesKeptPerOwnerMax)} bytes in all`,
    '`perPerson` of a poster': `1 to ${limits.posterPerPersonMax}`,
    'merchants that were let in': spaced(limits.merchantsMax),
    'wrong tries of one setup code': spaced(limits.setupTriesMax),
    'entries of `mintable`': spaced(limits.mintableMax),
    'clock tolerance of a signature': `${limits.proofWindowSeconds} seconds`,
    session: `${spaced(limits.sessionSeconds)} seconds`,
    'an announcement ahead of our clock': `${limits.announcementAheadSeconds} seconds`,
    'kept answers of the optional `Idempotency-Key`': `${spaced(limits.answerSeconds)} seconds`,
  }
  expect(Object.keys(documented)).toEqual(Object.keys(known))
  for (const [what, limit] of Object.entries(known)) {
    // Words may follow the number, but no further digit.
    expect({ what, limit: documented[what] }).toEqual({
      what,
      limit: expect.stringMatching(new RegExp(`^${limit}(?![ \\d]*\\d)`)),
    })
  }
})

test('the documented quotas are those of the code', () => {
  const rows = rowsUnder('## Quotas of a service for any key')
  expect(rows.map(([, most = '']) => most)).toEqual([
    spaced(limits.vouchersPerDayMax),
    spaced(limits.refreshesPerDayMax),
    spaced(limits.merchantBytesPerDayMax),
  ])
})

test('the documented limits of the gateway are those of the code', () => {
  expect(rowsUnder('## Limits of the gateway').map(([, limit = '']) => limit)).toEqual([
    `${spaced(limits.publishBytesMax)} bytes`,
    spaced(limits.filterItemsMax),
    `${limits.filterSearchCharsMax} characters`,
    `${limits.fetchMax}, ${limits.fetchDefault} if absent`,
    `${limits.fetchSeconds} seconds`,
    `${spaced(limits.fetchBytesMax)} bytes`,
    String(limits.fetchesMax),
    spaced(limits.outboxEventsMax),
    spaced(limits.outboxBytesMax),
    String(limits.outboxOpenShare),
    `${spaced(limits.deliverySeconds)} seconds`,
    `${limits.ephemeralSeconds} seconds`,
    `${limits.relayAnswerSeconds} seconds`,
    `${spaced(limits.outboxKeptSeconds)} seconds`,
    String(limits.relaysMax),
    spaced(limits.relayConnectionsMax),
    spaced(limits.relayConnectionsPerAddressMax),
    spaced(limits.relayRowsReadMax),
    spaced(limits.relayOpenFiltersMax),
    spaced(limits.relayOpenFiltersPerAddressMax),
    spaced(limits.relayOpenWeightMax),
    spaced(limits.relayOpenWeightPerAddressMax),
  ])
})

test('the documented limits of identities are those of the code', () => {
  expect(rowsUnder('## Limits of identities').map(([, limit = '']) => limit)).toEqual([
    '64 characters',
    `${limits.proposedNonceCharsMin} to ${limits.proposedNonceCharsMax} characters`,
    spaced(limits.openNoncesMax),
    `${spaced(limits.openNonceSeconds)} seconds`,
    `${spaced(limits.signupNonceSeconds)} seconds`,
    `${limits.requestWindowSeconds} seconds`,
    `${spaced(limits.lud16BytesMax)} bytes`,
    `${spaced(limits.callbackCharsMax)} characters`,
    `${spaced(limits.paymentFieldCharsMax)} characters`,
    `${limits.callbackDeadlineMs / 1000} seconds`,
    `${spaced(limits.callbackBodyBytesMax)} bytes`,
    `${limits.callbackSlots.takenMax}, ${limits.callbackSlots.of.account.takenMax} of them for one account, ${limits.callbackSlots.of.host.takenMax} at one host`,
  ])
})

test('the documented limits of the ledger and of payments are those of the code', () => {
  const rows = rowsUnder('## Limits of the ledger and of payments')
  expect(rows.map(([, limit = '']) => limit)).toEqual([
    String(limits.tokensMax),
    String(limits.tokenDecimalsMax),
    spaced(limits.tokenAmountMax),
    spaced(limits.tokenBalanceMax),
    String(limits.tokensPerTransactionMax),
    `${spaced(limits.transactionCharsMax)} characters, ${limits.memoCharsMax} of its memo are kept`,
    `${limits.transactionSeconds} seconds`,
    `${limits.requestWindowSeconds} seconds`,
    `${limits.repeatedTagsMax} of ${spaced(limits.repeatedTagCharsMax)} characters`,
    `${limits.balanceAheadSeconds} seconds`,
    spaced(limits.transactionsWaitingMax),
    `${limits.transactionKeyBurst}, and ${limits.transactionKeyPerSecond} a second`,
    `${limits.transactionStrangerBurst}, and ${limits.transactionStrangerPerSecond} a second`,
    `${limits.paymentSeconds} seconds, and ${limits.paymentGraceSeconds} for a late answer`,
    `${limits.paymentWaitSeconds} seconds`,
    String(limits.paymentRefusalsMax),
    `${spaced(limits.invoiceCharsMax)} characters`,
    `${limits.ledgerWordsCharsMax} characters`,
  ])
})

test('the documented rate limits are those of the code', () => {
  const files = [
    'http/rate-limit',
    'coupons/voucher-limits',
    'merchants/setup-tries',
    'posters/take-limit',
    'wallet/identities/signup-limit',
  ]
  const rules = files.flatMap((file) => [
    ...readText(`src/${file}.ts`).matchAll(/Rule = \{ burst: (\d+), perSecond: ([\d.]+)/g),
  ])
  expect(rules.length).toBeGreaterThan(5)
  const documented = rowsUnder('## Rate limits').map(([, , burst, refill = '']) => {
    const [, count, seconds = '1'] = /^(\d+) (?:a second|in (\d+) seconds)$/.exec(refill) ?? []
    return [Number(burst), Number(count) / Number(seconds)]
  })
  const known = rules.map(([, burst, perSecond]) => [Number(burst), Number(perSecond)])
  expect(documented).toHaveLength(known.length)
  expect(new Set(documented.map(String))).toEqual(new Set(known.map(String)))
})

test('the documented shares are those of the code', () => {
  const { nip05Slots, imageSlots, callbackSlots, leavingSlots, refreshSlots } = limits
  const [names, pictures] = [nip05Slots.of, imageSlots.of]
  const [wallets, leaving] = [callbackSlots.of, leavingSlots.of]
  expect(rowsUnder('### Calls to other servers').map(([, all, each]) => [all, each])).toEqual([
    [
      `${nip05Slots.takenMax}`,
      `${names.merchant.takenMax} of a merchant, ${names.host.takenMax} at one host`,
    ],
    [
      `${imageSlots.takenMax}`,
      `${pictures.merchant.takenMax} of a merchant, ${pictures.host.takenMax} at one host, ${pictures.address.takenMax} for a client address`,
    ],
    [
      `${callbackSlots.takenMax}`,
      `${wallets.account.takenMax} for one account, ${wallets.host.takenMax} at one host`,
    ],
    [
      `${leavingSlots.takenMax}`,
      `${leaving.sender.takenMax} of a client address, ${leaving.senderAtHost.takenMax} of those to one host; ${leaving.host.takenMax} to one host`,
    ],
    [`${refreshSlots.takenMax}`, `${refreshSlots.of.host.takenMax} at one service`],
  ])
  expect(rowsUnder('## Shares').map(([, all, each]) => [all, each])).toEqual([
    [
      `${spaced(limits.bodiesBytesMax)} bytes`,
      `${spaced(limits.bodiesBytesPerAddressMax)} bytes of an address, a body at its length and ${spaced(limits.bodyWeightMin)} at least`,
    ],
    [
      `${spaced(limits.inFlightMax)}, and ${spaced(limits.inFlightHardMax)} with those of addresses below their equal share`,
      `${limits.inFlightOfRouteMin} of an address for each route in any case`,
    ],
    [spaced(limits.relayConnectionsMax), `${limits.relayConnectionsPerAddressMax} of an address`],
    [`${limits.liveMax}`, `${limits.livePerAddressMax} of an address`],
  ])
})

test('every warning about an announcement is documented', () => {
  const source = readText('src/coupons/announcement.ts')
  const fixed = [...source.matchAll(/\badd\(\s*'([\w-]+)'/g)].map(([, code]) => code as string)
  const perAddress = [...source.matchAll(/\badd\(`([\w-]+)-\$\{name\}`/g)].flatMap(([, kind]) =>
    ['mintUrl', 'claimUrl', 'refreshUrl'].map((name) => `${kind}-${name}`),
  )
  expect(fixed.length * perAddress.length).toBeGreaterThan(0)
  const missing = [...fixed, ...perAddress].filter((code) => !protocol.includes(`\`${code}\``))
  expect(missing).toEqual([])
})

test('the log of the documented proxy holds no credential', () => {
  const [, pattern = ''] = /"~(\^.+)" "\$before-";/.exec(readText('docs/operations.md')) ?? []
  const logged = (path: string) => {
    const before = new RegExp(pattern).exec(path)?.groups?.before
    return before === undefined ? path : `${before}-`
  }
  const secret = 'Anf-OSv8elgEZg1_GQowWQ'
  const withSecret = [...protocol.matchAll(/^## [A-Z]+ (\/\S*\{(?:nonce|handle|k1)\})$/gm)]
  const paths = withSecret.map(([, path = '']) => path)
  expect(paths).toContain('/api/nonce/{nonce}')
  expect(paths).toContain('/card/pay/{k1}')
  for (const path of paths) {
    const asked = path.replace('{id}', 'x').replace(/\{\w+\}/, secret)
    expect(logged(asked)).not.toContain(secret)
  }
  for (const path of ['/api/nonce', '/card/pay', '/api/coupons/x/mints', '/api/coupons/claim']) {
    expect(logged(path)).toBe(path)
  }
})

// ── docs/api: examples

test('every JSON example of the documentation parses', () => {
  for (const page of ['README.md', ...pages()]) {
    const text = readText(page)
    for (const json of fencesOf('json', text)) expect(() => JSON.parse(json)).not.toThrow()
    for (const http of fencesOf('http', text)) expect(() => bodyOf(http)).not.toThrow()
  }
})

test('every example stands in a code block', () => {
  const prose = pages().map((path) => readText(path).replaceAll(/^```[\s\S]*?^```/gm, ''))
  expect(prose.flatMap((text) => text.match(/^\s*"\w+":.*/gm) ?? [])).toEqual([])
})

test('every event in an example has the right id and signature', () => {
  const bodies = fencesOf('http', protocol).map(bodyOf)
  const events = [...jsonExamples(), ...bodies, ...headerEvents()].flatMap(eventsIn)
  const kinds = new Set(events.map(({ kind }) => kind))
  expect(kinds).toEqual(new Set([27_235, 30_078, 20_402, 9734, 1, 1112, 21_111]))
  for (const event of events)
    expect({ id: event.id, good: verifyEvent(event) }).toEqual({ id: event.id, good: true })
})

test('the NIP-98 header in the example holds the event shown above it', () => {
  const [carried] = headerEvents()
  expect(jsonExamples()).toContainEqual(carried as never)
})

test('the content of the example voucher is the one shown below it', () => {
  const vouchers = jsonExamples().filter(({ kind }) => kind === 20_402)
  expect(vouchers).toHaveLength(1)
  for (const { content } of vouchers)
    expect(jsonExamples()).toContainEqual(JSON.parse(content as string))
})

test('the till in the recipe redeems a voucher, and its retry gets the same answer', async () => {
  const { url } = await startServer()
  const token = await openSession(url, newSigner())
  const { nonce } = await mintOne(url, token, await createDefinition(url, token))
  const [source = ''] = fencesOf('js', sectionOf('A till'))
  // Without its waits.
  const redeem = new Function('setTimeout', `return ${source}`)((go: () => void) => go()) as (
    base: string,
    nonce: string,
    order: object,
  ) => Promise<{ status: string }>
  const order = { amountMsat: 1000 }
  const first = await redeem(url, nonce, order)
  expect(first.status).toBe('success')
  expect(await redeem(url, nonce, order)).toEqual(first)
  expect((await redeem(url, nonce, {})).status).toBe('claimed')

  const proxy = await startFaultyProxy()
  proxy.target = url
  const wrong = [
    { status: 502, body: gatewayPage },
    { status: 500, body: '{"code":"x","error":"x"}' },
    { status: 404, body: gatewayPage },
    { status: 403, body: '{"code":"forbidden","error":"Policy"}' },
    { status: 200, body: '{"nonce":"csp","status":"ok"}' },
    { status: 200, body: '{"status":"success","data":null}' },
    { status: 200, body: '{"status":"success","nonce":"csp","voucher":{}}' },
    { status: 301, body: '', headers: { location: 'http://localhost:1/' } },
  ]
  proxy.fault = (_, times) => {
    const how = times === 1 ? ('cut' as const) : wrong[times - 2]
    return how ? { at: 'after', how } : null
  }
  const { nonce: other } = await mintOne(url, token, await createDefinition(url, token))
  expect((await redeem(proxy.origin, other, {})).status).toBe('success')
  expect([...proxy.seen.values()]).toEqual([wrong.length + 2])
  expect(await redeem(url, 'A'.repeat(22), {})).toMatchObject({ code: 'voucher-unknown' })
  proxy.stop()
})

// ── README.md

test('the README lists every setting with its flag and its default', () => {
  const rows = rowsUnder('## Configuration', readme).map(([variable, flag, fallback]) => [
    variable,
    flag,
    fallback,
  ])
  const known = (Object.keys(settings) as (keyof typeof settings)[]).map((name) => [
    `\`${settings[name].variable}\``,
    `\`--${flagOf(name)}\``,
    settings[name].shown,
  ])
  expect(rows.map((row) => row.map((cell) => cell?.replaceAll('`', '')))).toEqual(
    known.map((row) => row.map((cell) => cell.replaceAll('`', ''))),
  )
})

test('the page on clusters lists every setting with its rule for several nodes', () => {
  const page = readFileSync(join(root, 'docs/cluster.md'), 'utf8')
  const [, table = ''] = page.split('\n## Settings of several nodes\n')
  const rows = [...table.matchAll(/^\| [^|`]+ \| (`[^|]+) \|$/gm)].slice(0, 4)
  const listed = rows.map(([, names = '']) => names.replaceAll('`', '').split(', ').toSorted())
  const expected = ['pinned', 'equal', 'warned', 'own'].map((rule) => {
    const names = Object.entries(nodeRules).filter(([, one]) => one === rule)
    return names.map(([name]) => settings[name as keyof typeof settings].variable).toSorted()
  })
  expect(listed).toEqual(expected)
})

test('the files of a cluster name settings that exist', () => {
  const known = Object.values(settings).map(({ variable }) => variable)
  const compose = readFileSync(join(root, 'docs/cluster/compose.yaml'), 'utf8')
  const [, shared = ''] = /^x-node-environment:.*\n((?: .*\n)+)/m.exec(compose) ?? []
  const unit = readFileSync(join(root, 'docs/cluster/cuponera.service'), 'utf8')
  const lines = [...unit.matchAll(/^Environment=(.*)$/gm)].map(([, line = '']) => line)
  const named = [
    ...[...shared.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name),
    ...lines.flatMap((line) => line.split(' ')).map((pair) => pair.replace(/(_FILE)?=.*/, '')),
  ]
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !known.includes(name))).toEqual([])
})

test('every npm script that the README names exists', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
  const named = [...readme.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[a-z0-9-]+)/g)]
  expect(named.length).toBeGreaterThan(5)
  expect(named.map(([, name]) => name as string).filter((name) => !(name in scripts))).toEqual([])
})

test('the README names every command of the program, and no other', () => {
  const { stdout } = Bun.spawnSync([process.execPath, join(root, 'src/main.ts'), 'help'])
  const [, list = ''] = /Commands:\n([\s\S]*?)\n\n/.exec(stdout.toString()) ?? []
  const commands = [...list.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)/gm)].map(([, name = '']) => name)
  expect(commands).toContain('serve')
  const absent = commands.filter((name) => !new RegExp(`cuponera ${name}(?![a-z])`).test(readme))
  expect(absent).toEqual([])
  // The name stands for the program in code: at the start of a line, or with its path.
  const named = readme.matchAll(/(?:`|^|[ /])cuponera (?!cuponera)([a-z]+)(?=[ `\n])/gm)
  const words = new Set([...commands, 'help'].flatMap((name) => name.split(' ')[0] ?? []))
  expect([...named].map(([, word = '']) => word).filter((word) => !words.has(word))).toEqual([])
})

test('the README opens with two small pictures that are in the repository', () => {
  const [opening = ''] = readme.split('\n## ')
  const sizes = [...opening.matchAll(/<img src="([^"]+)"/g)].map(
    ([, path = '']) => statSync(join(root, path)).size,
  )
  expect(sizes).toHaveLength(2)
  expect(Math.max(...sizes)).toBeLessThan(80_000)
})

test('the README fits in one sitting', () => {
  // Both: a limit on lines alone had made them long.
  expect(readme.split('\n').length).toBeLessThan(364)
  expect(readme.length).toBeLessThan(25_750)
})

test('no line of prose in the README is too long for an editor', () => {
  const prose = readme.replace(/^```[\s\S]*?^```$/gm, '')
  const tooLong = prose.split('\n').filter((line) => line.length > 130 && !/^ *[|<]/.test(line))
  expect(tooLong).toEqual([])
})

// ── Reading the routes

type DescribedRoute = {
  /** Such as `DELETE /api/coupons/{}`. */
  name: string
  /** Codes that it refuses with. */
  refused: readonly RefusalCode[]
  /** Codes in its answers of status 200. */
  told: readonly RefusalCode[]
  /** Both, without those that every route of its kind has. */
  refusals: RefusalCode[]
}

/** The routes of the coupon service, as Elysia knows them. */
function couponRoutes(): DescribedRoute[] {
  const nothing = { signer: { pubkey: '0'.repeat(64) } } as never
  const instances = [
    voucherRoutes(nothing, nothing, noRateLimits),
    managementRoutes(nothing, nothing, noRateLimits),
    minterRoutes(nothing, nothing),
    announcementRoutes(nothing, nothing),
    liveRoutes(nothing, nothing, nothing),
    imageRoutes(nothing),
    pictureRoutes(nothing, nothing, nothing),
    posterRoutes(nothing, nothing),
    shownPosterRoutes(nothing),
    sessionRoutes(nothing, nothing),
    setupRoutes(nothing, nothing),
    merchantRoutes(nothing, nothing),
    moveRoutes(nothing, nothing),
    arrivalRoutes(nothing),
    shopRoutes(nothing, nothing),
    gatewayRoutes(nothing),
    relayRoutes({ version: '', manager: '', open: () => false, base: () => '' }),
    identityRoutes(nothing, noRateLimits),
    signupRoutes(nothing),
    directoryRoutes(nothing),
    transferRoutes(nothing, noRateLimits),
    inboxRoutes(nothing, nothing),
    tagRoutes(nothing, noRateLimits),
    holderRoutes(nothing, noRateLimits),
    tapRoutes(nothing, noRateLimits),
    payRoutes(nothing, noRateLimits),
    ledgerRoutes(nothing, nothing),
  ]
  return instances.flatMap(({ routes }) =>
    routes.map(({ method, path, hooks }) => ({
      name: nameOf(method, path),
      refused: hooks.detail['x-refusals'] ?? [],
      told: hooks.detail['x-told'] ?? [],
      refusals: [...(hooks.detail['x-refusals'] ?? []), ...(hooks.detail['x-told'] ?? [])].filter(
        (code: RefusalCode) => !general.has(code),
      ),
    })),
  )
}

/** Refusals that the page describes once for all routes, in the ground rules and under authentication. */
const general = new Set(
  refusalCodes.filter((code) => {
    const status = httpStatusOf({ code })
    return code.startsWith('auth-') || [408, 413, 429, 503].includes(status)
  }),
)

/** Method and path of every route in the source, also of those that no instance above has. */
function sourceRoutes(): Set<string> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const routes = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readText(`src/${file}`))
    .flatMap((text) => {
      const [, plugin = ''] =
        /new Elysia\(\{\s*name: ('[^']+'(?:,\s*prefix: '[^']+')?),/.exec(text) ?? []
      if (plugin === '') return []
      const [, prefix = ''] = /prefix: '([^']+)'/.exec(plugin) ?? []
      return [...text.matchAll(/\.(get|post|put|patch|delete)\(\s*'(\/[^']*)'/g)].map(
        ([, method = '', path = '']) => nameOf(method, prefix + path),
      )
    })
  for (const { name } of couponRoutes()) expect(routes).toContain(name)
  return new Set(routes)
}

/** Routes that have a heading, or a row in the table of the service itself. */
function describedRoutes(): Set<string> {
  const headings = [...protocol.matchAll(/^## (GET|POST|PUT|PATCH|DELETE) (\/\S*)$/gm)]
  const rows = rowsUnder('# The service itself').map(([route = '']) =>
    /^`(\w+) (\S+)`$/.exec(route),
  )
  return new Set([...headings, ...rows].map((found) => nameOf(found?.[1] ?? '', found?.[2] ?? '')))
}

/** Names of parameters do not matter: `/:id` and `/{id}` both read `/{}`. */
function nameOf(method: string, path: string): string {
  const plain = path.replace(/(?<=.)\/$/, '').replace(/:\w+|\{\w*\}/g, '{}')
  return `${method.toUpperCase()} ${plain}`
}

// ── Reading the pages

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function pages(): string[] {
  return readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
}

function apiPages(): string[] {
  return pages()
    .filter((name) => name.startsWith('docs/api/'))
    .toSorted(byText)
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}

/** From a heading to the next of its level or above. */
function sectionOf(title: string, level = 2): string {
  const lines = protocol.split('\n')
  const mark = '#'.repeat(level)
  const start = lines.findIndex(
    (line) =>
      line.startsWith(`${mark} `) && (line === `${mark} ${title}` || headingName(line) === title),
  )
  if (start === -1) throw new Error(`docs/api has no section ${title}`)
  const length = lines
    .slice(start + 1)
    .findIndex((line) => /^#{1,6} /.test(line) && line.indexOf(' ') <= level)
  return lines.slice(start, length === -1 ? undefined : start + 1 + length).join('\n')
}

function headingName(line: string): string {
  const [, method = '', path = ''] = /^#+ ([A-Z]+) (\/\S*)$/.exec(line) ?? []
  return nameOf(method, path)
}

function fencesOf(language: string, text: string): string[] {
  const fences = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))
  return [...fences].map(([, body = '']) => body)
}

type Json = Record<string, unknown>

function jsonExamples(): Json[] {
  return fencesOf('json', protocol).map((text) => JSON.parse(text) as Json)
}

/** The JSON after the headers of a request, or null. */
function bodyOf(http: string): unknown {
  const [, body] = /\n\n([\s\S]+)$/.exec(http) ?? []
  return body === undefined ? null : JSON.parse(body)
}

/** Events that a request carries in its Authorization header. */
function headerEvents(): NostrEvent[] {
  return [...protocol.matchAll(/^Authorization: Nostr ([A-Za-z0-9+/=]{100,})$/gm)].map(
    ([, encoded = '']) => JSON.parse(Buffer.from(encoded, 'base64').toString()) as NostrEvent,
  )
}

/** Every Nostr event in a value, however deep. */
function eventsIn(value: unknown): NostrEvent[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(eventsIn)
  if (!('sig' in value)) return inside
  const event = parseEvent(value)
  if (!event) throw new Error('an example has something like an event that is none')
  return [event, ...inside]
}

/** The cells of the first table below a heading, without its head. */
function rowsUnder(heading: string, page = protocol): string[][] {
  const [, below = ''] = page.split(`\n${heading}\n`)
  const [table = ''] = /^(\|.*\n)+/m.exec(below) ?? []
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

/** 1000000 as `1 000 000`. */
function spaced(number: number | bigint): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ' ')
}
