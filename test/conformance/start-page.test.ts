/** The page for the first ten minutes: its blocks in one shell, as printed, against a real server. */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { program } from '../support/program.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const root = join(import.meta.dir, '../..')
const page = readFileSync(join(root, 'docs/api/start.md'), 'utf8')
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

afterAll(cleanUp)

test('the five calls of the start page redeem a coupon', async () => {
  const { url } = await startServer()
  // The folder of the source, in which the page leaves a key.
  const folder = newDirectory()
  for (const name of ['src', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
  expect(blocks).toHaveLength(6)
  // The page hands both to the till of the client.
  const script = [...blocks, 'echo "$NONCE $OWNER"'].join('\n')
  const shell = Bun.spawn(['sh', '-eu', '-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH, URL: url },
    stdin: 'ignore',
    stderr: 'pipe',
  })
  const out = await new Response(shell.stdout).text()
  expect(await new Response(shell.stderr).text()).toBe('')
  const [session, coupon, nonce, preview = '', claim = '', till] = out.trim().split('\n')
  expect(session).toMatch(/^session ey/)
  expect(coupon).toMatch(/^coupon [0-9a-f-]{36}$/)
  expect(nonce).toMatch(/^nonce [\w-]{22}$/)
  expect(JSON.parse(preview)).toMatchObject({ status: 'minted' })
  expect(JSON.parse(claim)).toMatchObject({ status: 'success' })
  expect(till).toMatch(/^[\w-]{22} [0-9a-f]{64}$/)
})

test('sign refuses what it cannot sign', async () => {
  const run = (...args: string[]) =>
    Bun.spawnSync([...program, 'sign', ...args], { cwd: newDirectory() }).exitCode
  expect(run('GET', 'http://127.0.0.1/')).toBe(2)
  expect(run('GET', 'ftp://127.0.0.1/', '--key', 'a.nsec')).toBe(2)
})
