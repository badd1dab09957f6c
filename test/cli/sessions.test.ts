import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import { call, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { damage, databaseOf, testOfFile } from '../support/database.ts'
import { expectRefusal, readRows } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { logged, until } from '../support/until.ts'

afterAll(cleanUp)

const ask = (server: TestServer, token: string) => call(server.url, '/api/coupons', { token })

async function expectOver(server: TestServer, token: string): Promise<void> {
  const answer = await ask(server, token)
  expectRefusal(answer, 401, 'auth-session-expired', { reason: 'session-expired' })
}

/** A live stream; `ended` waits for its end. */
async function listen(server: TestServer, token: string) {
  const response = await fetch(`${server.url}/api/coupons/live`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  let over = false
  const end = () => {
    over = true
  }
  // The stream breaks off when the server is killed.
  const ended = response.text().then(end, end)
  return { ended, open: () => !over }
}

const end = (dataDir: string, ...args: string[]) =>
  runCommand(['sessions', 'end', ...args], { dataDir })

describe('cuponera sessions end', () => {
  test('ends the sessions and streams of one key for ever, and nobody else’s', async () => {
    const server = await startServer()
    const [stolen, other] = [newSigner(), newSigner()]
    const npub = npubOf(stolen.pubkey)
    const before = await openSession(server.url, stolen)
    const seen = await openSession(server.url, stolen)
    expect((await ask(server, seen)).status).toBe(200)
    const others = await openSession(server.url, other)
    const stream = await listen(server, before)
    const left = await listen(server, others)

    const { code, stdout, stderr } = await end(server.dataDir, npub)
    expect({ code, stderr, first: stdout.split('\n')[0] }).toEqual({
      code: 0,
      stderr: '',
      first: `the sessions of ${npub} have ended`,
    })
    // A session that begins in the same second stays valid.
    const after = await openSession(server.url, stolen)
    await stream.ended
    for (const token of [before, seen]) await expectOver(server, token)
    expect((await ask(server, after)).status).toBe(200)
    expect((await ask(server, others)).status).toBe(200)
    expect(left.open()).toBe(true)
    await logged(server, 'sessions.ended')

    await server.kill()
    const again = await startServer({ dataDir: server.dataDir })
    for (const token of [before, seen]) await expectOver(again, token)
    for (const token of [after, others]) expect((await ask(again, token)).status).toBe(200)
  })

  test('ends all sessions with --all, also those that were opened after the last end', async () => {
    const server = await startServer()
    const signers = [newSigner(), newSigner()]
    let tokens = await Promise.all(signers.map((signer) => openSession(server.url, signer)))
    const streams = await Promise.all(tokens.map((token) => listen(server, token)))
    for (const args of [['--all'], ['--all'], [signers[0]?.pubkey as string]]) {
      const all = args[0] === '--all'
      expect((await end(server.dataDir, ...args)).code).toBe(0)
      await expectOver(server, tokens[0] as string)
      if (all) await expectOver(server, tokens[1] as string)
      else expect((await ask(server, tokens[1] as string)).status).toBe(200)
      tokens = await Promise.all(signers.map((signer) => openSession(server.url, signer)))
      for (const token of tokens) expect((await ask(server, token)).status).toBe(200)
    }
    await Promise.all(streams.map(({ ended }) => ended))
  })

  testOfFile('works without a server, and takes effect at the next start', async () => {
    const server = await startServer()
    const signer = newSigner()
    const [token, others] = [
      await openSession(server.url, signer),
      await openSession(server.url, newSigner()),
    ]
    await server.stop()
    expect(await end(server.dataDir, signer.pubkey)).toMatchObject({ code: 0, stderr: '' })
    const again = await startServer({ dataDir: server.dataDir })
    await expectOver(again, token)
    expect((await ask(again, others)).status).toBe(200)
    expect((await ask(again, await openSession(again.url, signer))).status).toBe(200)
  })

  testOfFile('is refused with one line while the clock is behind', async () => {
    const server = await startServer()
    await server.stop()
    await damage(server.dataDir, `UPDATE state SET newest_write = ${secondsNow() + 100_000}`)
    const { code, stderr } = await end(server.dataDir, '--all')
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 1, lines: 2 })
    expect(stderr).toStartWith('cuponera: ')
  })

  test('needs either a key or --all', async () => {
    const { dataDir } = await startServer()
    const npub = npubOf(newSigner().pubkey)
    for (const args of [[], [npub, '--all'], [npub, npub]]) {
      expect((await end(dataDir, ...args)).code).toBe(2)
    }
    for (const key of ['x', '0'.repeat(64), 'nsec1']) {
      expect(await end(dataDir, key)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'cuponera: that is no key: npub or hex\n',
      })
    }
    expect((await readRows(dataDir)).session_cutoffs).toEqual([])
  })

  testOfFile('is not undone by a restore: after it everybody signs in again', async () => {
    const server = await startServer()
    const { dataDir } = server
    const signer = newSigner()
    const tokens = [
      await openSession(server.url, signer),
      await openSession(server.url, newSigner()),
    ]
    const backup = join(newDirectory(), 'backup.db')
    expect((await runCommand(['backup', backup], { dataDir })).code).toBe(0)
    await end(dataDir, signer.pubkey)
    await server.stop()
    expect((await runCommand(['restore', backup, '--force'], { dataDir })).code).toBe(0)
    const again = await startServer({ dataDir })
    for (const token of tokens) await expectOver(again, token)
    expect((await ask(again, await openSession(again.url, signer))).status).toBe(200)
  })

  test('is forgotten once every session from before it has expired', async () => {
    const server = await startServer()
    const rows = async () =>
      (await readRows(server.dataDir)).session_cutoffs as { pubkey: Uint8Array; ended_at: number }[]
    for (let times = 0; times < 2; times++) await end(server.dataDir, newSigner().pubkey)
    expect(await rows()).toHaveLength(2)
    await server.stop()
    const old = secondsNow() - 13 * 60 * 60
    for (const [at, { pubkey }] of (await rows()).entries()) {
      const ended = old + (at === 0 ? -60 : 60)
      const sql = 'UPDATE session_cutoffs SET ended_at = ? WHERE pubkey = ?'
      await databaseOf(server.dataDir).run(sql, ended, pubkey)
    }
    await startServer({ dataDir: server.dataDir })
    await until('forgotten', async () => (await rows()).length < 2)
    expect(await rows()).toMatchObject([{ ended_at: old + 60 }])
  })
})
