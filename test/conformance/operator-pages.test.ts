/** The shell blocks of the pages for operators, as printed, but for their places and keys. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/app/settings.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { copyDirectory, createPopulated, runInTerminal } from '../support/cli.ts'
import { newSigner } from '../support/client.ts'
import { describeFile } from '../support/database.ts'
import { managerSecret, walletObject } from '../support/identities.ts'
import {
  blocksOf,
  blockWith,
  openDesk,
  type Replacement,
  readText,
  root,
} from '../support/printed.ts'
import { program } from '../support/program.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

afterAll(cleanUp)

describeFile('the commands of', () => {
  const env = { COUPON_MANAGER_NSEC: managerSecret.toString('hex') }
  const manager = npubOf(newSigner(managerSecret).pubkey)
  const withTokens = { ...env, TOKENS: `ARS:2:${manager}` }
  const newHolder = () => npubOf(newSigner().pubkey)
  let dataDir: string

  beforeAll(async () => {
    dataDir = (await createPopulated({ env })).dataDir
  })

  test.each(['README.md', 'docs/operations.md'])('%s give names to two holders', async (page) => {
    const { desk, run } = openDesk({ ...env, DATA_DIR: copyDirectory(dataDir) })
    writeFileSync(join(desk, 'wallet.json'), JSON.stringify(walletObject()))
    const block = blockWith(page, 'cuponera identity add ana')
    const said = await run(block, ['npub1…', newHolder])
    expect(said.trimEnd().split('\n').at(-1)).toMatch(/^\S{22}/)
  })

  test('the README decide who may manage', async () => {
    const block = blockWith('README.md', 'cuponera merchants confirm --all')
    const { run } = openDesk({ ...env, DATA_DIR: dataDir, PUBLIC_URL: 'https://cupones.example' })
    const holder = newHolder()
    const said = await run(block, ['npub1…', () => holder])
    expect(said).toMatch(/[A-Z0-9]{4}-[A-Z0-9]{4}/)
    expect(said).toContain(holder)
  })

  test('the page on tokens pay a customer and write the statement', async () => {
    const server = await startServer({ dataDir, env: withTokens })
    const { desk, run } = openDesk({ ...withTokens, DATA_DIR: dataDir })
    const block = blockWith('docs/operations.md', 'cuponera ledger issue ARS')
    const holder = newHolder()
    expect(await run(block, ['npub1…', () => holder])).toContain('1500.50')
    expect(readFileSync(join(desk, 'enero.csv'), 'utf8')).toContain('Carga')
    await server.stop()
  })

  test('the page on cards write a card, pay with it and end it', async () => {
    const page = 'docs/cards.md'
    const pesos = { ...env, TOKENS: `PESO:2:${manager}` }
    const first = openDesk({ ...env, DATA_DIR: join(newDirectory(), 'data') })
    const before = blockWith(page, '$ cuponera keys show')
    const keys = await first.run(commandsIn(before), ['npub1ee3u…', () => manager])
    expect(shapeOf(keys)).toContain('\nmanager key\n npub\n')

    const server = await startServer({ env: pesos })
    const port = new URL(server.url).port
    const { run } = openDesk({ ...pesos, DATA_DIR: server.dataDir, PORT: port })
    const making = blockWith(page, '$ cuponera card-sim new')
    const made = await run(commandsIn(making))
    const labelsOf = (text: string) =>
      [...text.matchAll(/^(\w*) +\S+$/gm)].map(([, label]) => label)
    expect(labelsOf(made)).toEqual(labelsOf(outputIn(making)))
    const of = (label: string) => new RegExp(`^${label} +(\\S+)$`, 'm').exec(made)?.[1] ?? ''
    const tap = of('tap')
    for (const code of ['no-gateway', 'tap-used']) {
      expect(await (await fetch(tap)).json()).toMatchObject({ code })
    }
    const shop = newHolder()
    const paying = blockWith(page, '$ cuponera card-sim pay')
    const paid = await run(
      commandsIn(paying),
      ['npub1k…', () => of('holder')],
      ['npub1tienda…', () => shop],
      ['0431db2a4c5fe7', () => of('uid')],
    )
    const rows = (text: string) => shapeOf(text).split('\n').toSorted()
    expect(rows(paid)).toEqual(rows(outputIn(paying)))
    await run(blockWith(page, 'cuponera cards otc UID'), ['UID', () => of('uid')])
    await server.stop()
  })

  test('the page on operation move to another computer, and answer https there', async () => {
    const old = openDesk({ DATA_DIR: join(newDirectory(), 'data') })
    await old.run('cuponera serve')
    const file = join(newDirectory(), 'mudanza.cuponera')
    const here: Replacement = ['/media/usb/mudanza.cuponera', () => file]
    const [out = '', into = ''] = blockWith('docs/operations.md', 'cuponera move out').split('\n')
    const [, passphrase = ''] = /^ {2}((?:\S+[ -]){7}\S+)$/m.exec(await old.run(out, here)) ?? []
    const fresh = join(newDirectory(), 'data')
    const words = into.replace(here[0], file).replace(/ +#.*/, '').split(' ').slice(1)
    const moved = await runInTerminal(words, { dataDir: fresh }, [
      ['Passphrase: ', `${passphrase}\r`],
    ])
    expect(moved).toMatchObject({ code: 0 })
    const { run } = openDesk({ DATA_DIR: fresh, TLS_PORT: '0' })
    const block = blockWith('docs/operations.md', 'cuponera serve --host 0.0.0.0')
    expect(await run(block)).toMatch(/https +https:/)
  })

  test('the pages on backups work where the files exist', async () => {
    const backups = newDirectory()
    for (const path of [join(backups, 'monday.db'), join(dataDir, 'nightly.db')]) {
      writeFileSync(path, 'of last week')
    }
    const { run } = openDesk({ ...env, DATA_DIR: dataDir })
    const here: Replacement[] = [
      ['/var/lib/cuponera', () => dataDir],
      ['/backups', () => backups],
    ]
    await run(blockWith('README.md', 'cuponera restore --force'), ...here)
    await run(blockWith('docs/operations.md', '/etc/cron.daily/cuponera'), ...here)
    const kept = readdirSync(backups).toSorted()
    expect(kept).toEqual([expect.stringMatching(/^cuponera-\S+\.db$/), 'monday.db'])
    for (const name of kept) expect(statSync(join(backups, name)).size).toBeGreaterThan(4096)
  })
})

/** The commands of a session on a terminal, and what they printed there. */
const commandsIn = (session: string) =>
  [...session.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line).join('\n')
const outputIn = (session: string) => session.replace(/^\$ .*\n/gm, '')
/** A text without the values that differ from run to run. */
const shapeOf = (text: string) => {
  const plain = text.replace(/npub1[a-z0-9…]+/g, 'npub').replace(/\(\w+…?\)$/gm, '(…)')
  return plain.replace(/[ \t]+/g, ' ')
}

// ── Files beside the pages

type Service = {
  image?: string
  build?: unknown
  depends_on?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  configs?: { source: string }[]
}

test('the compose file has all that its services name', () => {
  const compose = Bun.YAML.parse(readText('docs/cluster/compose.yaml')) as {
    services: Record<string, Service>
    configs: Record<string, { content: string }>
  }
  const names = Object.keys(compose.services)
  expect(names).toEqual([
    'etcd',
    'db1',
    'db2',
    'db3',
    'prepare',
    'node1',
    'node2',
    'node3',
    'balancer',
  ])
  for (const [name, service] of Object.entries(compose.services)) {
    const { depends_on: needs = [], configs = [], volumes = [] } = service
    const files = volumes
      .map((one) => one.split(':')[0] ?? '')
      .filter((one) => one.startsWith('./'))
    expect({
      name,
      image: service.image,
      unknown: needs.filter((one) => !names.includes(one)),
    }).toEqual({ name, image: expect.stringMatching(/^\S+$/), unknown: [] })
    for (const { source } of configs) expect(Object.keys(compose.configs)).toContain(source)
    for (const file of files) expect(statSync(join(root, 'docs/cluster', file)).isFile()).toBe(true)
  }
  const nodes = names.filter((name) => name.startsWith('node'))
  const known = Object.values(settings).map(({ variable }) => variable as string)
  for (const name of nodes) {
    const environment = compose.services[name]?.environment ?? {}
    expect(environment.NODE_NAME).toBe(name)
    expect(environment.DATABASE_URL).toStartWith('postgres://')
    expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([])
    expect(
      compose.configs.balancer?.content.match(new RegExp(`server ${name} ${name}:3000`, 'g')),
    ).toHaveLength(2)
  }
})

test('the units and commands for systemd, Docker and a proxy name settings and commands that exist', () => {
  const page = readText('docs/operations.md')
  const unit = blockWith('docs/operations.md', '[Service]')
  const inUnit = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
    line.split(' '),
  )
  const inDocker = [...page.matchAll(/ -e ([A-Z_]+=)/g)].map(([, pair = '']) => pair)
  const named = [...inUnit, ...inDocker].map((pair) => pair.replace(/(_FILE)?=.*/, ''))
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !knownSettings.includes(name))).toEqual([])
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => readText(`docs/${name}`))
    .join('\n')
  const fences = [...pages.matchAll(/^ *```(?:sh|console)\n([\s\S]*?)^ *```$/gm)].map(
    ([, text = '']) => text,
  )
  const commands = fences.flatMap((text) => [
    ...text.matchAll(/^(?:\$ )?(?:[A-Z_]+=\S+ )*cuponera ([a-z-]+)/gm),
  ])
  expect(commands.length).toBeGreaterThan(25)
  const absent = commands
    .map(([, word = '']) => word)
    .filter((word) => !commandsOfHelp().includes(word))
  expect([...new Set(absent)]).toEqual([])
})

// ── Docker, which no test has: its file, and each command and flag of the page, are read.

const knownSettings = Object.values(settings).map(({ variable }) => variable as string)
let helped: (string | undefined)[] | undefined
const commandsOfHelp = () => {
  const help = () => Bun.spawnSync([...program, 'help']).stdout.toString()
  helped ??= [...help().matchAll(/^ {2}([a-z-]+) /gm)].map(([, command]) => command)
  return helped
}

/** The instructions of the file for the image, such as `EXPOSE`, with what follows each. */
function readImage() {
  const lines = readText('Dockerfile').replace(/\\\n/g, ' ').split('\n')
  const instructions = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const all = (word: string) =>
    instructions
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => line.slice(word.length + 1))
  const one = (word: string) => all(word).at(-1) ?? ''
  const env = new Map(
    one('ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  )
  return { all, one, env, ports: one('EXPOSE').split(' '), volume: one('VOLUME') }
}

test('the file for the image copies what is there, and starts the program that it has built', () => {
  const { all, one, env, ports, volume } = readImage()
  const { scripts } = JSON.parse(readText('package.json'))
  const [, script = ''] = /npm run (\S+)/.exec(all('RUN').join('\n')) ?? []
  expect(scripts[script]).toEndWith(' .tools/build.ts')
  const copies = all('COPY').map((line) => line.split(' '))
  const own = copies
    .filter(([first = '']) => !first.startsWith('--'))
    .flatMap((words) => words.slice(0, -1))
  const sent = [...readText('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path)
  expect(own.filter((path) => path !== '.' && !sent.includes(path))).toEqual([])
  for (const path of sent)
    expect({ path, is: existsSync(join(root, path)) }).toEqual({ path, is: true })

  const [[, from, binary] = []] = copies.filter(([first]) => first === '--from=build')
  expect(from).toBe(`${one('WORKDIR')}/dist/cuponera`)
  expect(JSON.parse(one('ENTRYPOINT'))).toEqual([binary])
  const [checks, check] = JSON.parse(one('HEALTHCHECK').replace(/^.* CMD /, ''))
  expect(checks).toBe(binary)
  expect(commandsOfHelp()).toEqual(expect.arrayContaining([check, ...JSON.parse(one('CMD'))]))
  expect([...env.keys()].filter((name) => !knownSettings.includes(name))).toEqual([])
  expect([env.get('DATA_DIR'), env.get('PORT'), '3443']).toEqual([volume, ...ports])
  const [user, group] = one('USER').split(':')
  for (const part of [`groupadd --gid ${group} `, `--uid ${user} --gid ${group} `, ` ${volume}`]) {
    expect(all('RUN').at(-1)).toContain(part)
  }
})

test('each command for Docker has an image, a container, ports, volumes and settings that there are', () => {
  const { ports, volume } = readImage()
  const page = readText('docs/operations.md')
  const blocks = blocksOf('docs/operations.md').filter(({ text }) => text.includes('docker '))
  const lines = blocks.flatMap(({ text }) => text.replace(/\\\n/g, ' ').split(/\n| && /))
  const commands = lines.filter((line) => line !== '').map((line) => line.split(/ +/))
  expect(commands.length).toBeGreaterThan(6)
  const commandsOfProgram = commandsOfHelp()

  /** The words behind the flags of a container. */
  const afterFlags = (words: readonly string[]): string[] => {
    const [flag = '', value = '', ...rest] = words
    const target = value.split(':')
    switch (flag) {
      case '-d':
        return afterFlags([value, ...rest])
      case '--restart':
      case '--name':
      case '--network':
        expect(['on-failure', 'cuponera', 'host']).toContain(value)
        return afterFlags(rest)
      case '-p':
        expect(ports).toContain(target.at(-1) ?? '')
        return afterFlags(rest)
      case '-v':
        expect([volume, '/tls']).toContain(target[1] ?? '')
        return afterFlags(rest)
      case '-e':
        expect(knownSettings).toContain(value.replace(/=.*/, ''))
        return afterFlags(rest)
      default:
        return words.filter((word) => word !== '')
    }
  }

  // The container behind a proxy is the first one with a setting more.
  const settings = commands
    .filter((words) => words.includes('-p'))
    .map((words) => words.filter((_, at) => words[at - 1] === '-e'))
  const [first = [], behindProxy = []] = settings
  expect(behindProxy.toSorted()).toEqual([...first, 'TRUSTED_PROXIES=172.17.0.1'].toSorted())
  for (const [docker, verb, ...words] of commands) {
    expect(docker).toBe('docker')
    if (verb === 'build') expect(words).toEqual(['-t', 'cuponera', '.'])
    else if (verb === 'run') expect(afterFlags(words)).toEqual(['cuponera'])
    else if (['restart', 'stop', 'rm'].includes(verb ?? '')) expect(words).toEqual(['cuponera'])
    else if (verb === 'exec') {
      expect(words.slice(0, 2)).toEqual(['cuponera', 'cuponera'])
      expect(commandsOfProgram).toContain(words[2] ?? '')
    } else {
      const gateways = "'{{range .NetworkSettings.Networks}}{{.Gateway}} {{end}}'"
      expect([verb, ...words].join(' ')).toBe(`inspect cuponera -f ${gateways}`)
    }
  }
  // Flags in the text between the blocks.
  const flags = [...page.matchAll(/`(-p \d+[^`]+)`/g)].map(([, text = '']) => text.split(/\s+/))
  expect(flags.map((words) => afterFlags(words))).toEqual([[], []])
})
