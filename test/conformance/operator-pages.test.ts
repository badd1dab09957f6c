/** The shell blocks of the pages for operators, as printed, but for their places and keys. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { copyDirectory, createPopulated, runInTerminal } from '../support/cli.ts'
import { newSigner } from '../support/client.ts'
import { describeFile } from '../support/database.ts'
import { managerSecret, walletObject } from '../support/identities.ts'
import { blockWith, openDesk, type Replacement, readText, root } from '../support/printed.ts'
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

test('the blocks of all pages name commands that exist', () => {
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
  const known = commandsOfHelp()
  const absent = commands.map(([, word = '']) => word).filter((word) => !known.includes(word))
  expect([...new Set(absent)]).toEqual([])
})

const commandsOfHelp = () => {
  const help = Bun.spawnSync([...program, 'help']).stdout.toString()
  return [...help.matchAll(/^ {2}([a-z-]+) /gm)].map(([, command = '']) => command)
}
