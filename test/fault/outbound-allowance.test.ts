import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/app/settings.ts'
import { runCommand } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { startForeignService } from '../support/foreign-service.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { addAccount, openFront } from '../support/shops.ts'

afterAll(cleanUp)

const source = join(import.meta.dir, '../../src')

test('only an argument of `start` can allow the loopback, and the program never passes one', () => {
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(source.length + 1), text: readFileSync(path, 'utf8') }))
  const naming = (word: RegExp) =>
    files.filter(({ text }) => word.test(text)).map(({ path }) => path)
  expect(naming(/allowLoopback/)).toEqual(['outbound/fetch-public.ts'])
  expect(naming(/\bOutboundSettings\b/).sort()).toEqual([
    'app/start.ts',
    'outbound/fetch-public.ts',
  ])
  expect(naming(/createFetchPublic\(/).sort()).toEqual(['app/start.ts', 'outbound/fetch-public.ts'])
  const starts = files
    .filter(({ text }) => /import [^;]*?\bstart\b[^;]*?'\.\.\/app\/start\.ts'/.test(text))
    .flatMap(({ text }) => [...text.matchAll(/\bawait start\((.*)\)/g)].map(([, args]) => args))
  expect(starts).toEqual(['current, log', 'config, log'])
  // A switch for two services on one desk. It lets in the services of VOUCHER_SERVICES alone.
  expect(Object.keys(settings).filter((name) => /outbound|loopback|private/i.test(name))).toEqual([
    'allowPrivateServices',
  ])
})

test.each(['--outbound', '--allow-loopback', '--allow-private', '--ca'])(
  'there is no flag %s',
  async (flag) => {
    const { code, stderr } = await runCommand(['serve', flag, '1'])
    expect(code).not.toBe(0)
    expect(stderr).toContain(flag)
  },
)

/** Variables that somebody might try, and those that libraries are known to read. */
const hopeful = {
  OUTBOUND: '{"allowLoopback":true}',
  OUTBOUND_ALLOW_LOOPBACK: '1',
  ALLOW_LOOPBACK: 'true',
  allowLoopback: 'true',
  ALLOW_PRIVATE: 'on',
  CUPONERA_ALLOW_LOOPBACK: '1',
  FAULT: 'before /',
  NODE_ENV: 'test',
  BUN_ENV: 'test',
  CI: 'true',
  TEST: '1',
  DEBUG: '*',
  NODE_DEBUG: 'http',
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
  NODE_NO_WARNINGS: '1',
}

test('the released program never connects to the loopback, in any environment', async () => {
  const [door, foreign] = [await openFront(), startForeignService()]
  let connections = 0
  door.connected = () => {
    connections += 1
  }
  const { nonce, voucher } = foreign.mint()
  const at = `127.0.0.1:${door.port}`
  const server = await startServer({
    env: {
      ...hopeful,
      RATE_LIMIT: 'off',
      VOUCHER_SERVICES: `${foreign.manager}|https://${at}/api/coupons/refresh`,
    },
  })
  await addAccount(server.dataDir, 'ana', newSigner().pubkey)
  const body = { action: 'voucher', nonce, voucher }
  const taken = await call(server.url, '/api/lud16/ana/cb', { body })
  expect(taken.json.code).toBe('service-silent')

  const token = await openSession(server.url, newSigner())
  const minted = await mintOne(server.url, token, await createDefinition(server.url, token))
  for (const host of [at, `[::1]:${door.port}`, `localhost:${door.port}`, `127.1:${door.port}`]) {
    const sent = await call(server.url, '/api/transfer', {
      body: { nonce: minted.nonce, to: `ana@${host}` },
    })
    expect(sent.json).toMatchObject({ status: 'NOT_SENT', code: 'address-silent' })
  }
  expect(connections).toBe(0)
  door.close()
  foreign.stop()
})
