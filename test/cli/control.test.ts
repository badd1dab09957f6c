import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { takeLock } from '../../src/db/lock.ts'
import { runCommand } from '../support/cli.ts'
import { testOfFile } from '../support/database.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

afterEach(cleanUp)

describe('the control socket', () => {
  test('is readable for the user of the service alone, and is removed at the stop', async () => {
    const server = await startServer()
    const path = join(server.dataDir, 'control.sock')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(path).isSocket()).toBe(true)
    expect(await server.stop()).toBe(0)
    expect(existsSync(path)).toBe(false)
  })

  test.each([
    ['a killed server left', async (dataDir: string) => (await startServer({ dataDir })).kill()],
    ['is no socket', async (dataDir: string) => writeFileSync(join(dataDir, 'control.sock'), 'x')],
  ])('replaces one that %s', async (_, leave) => {
    const dataDir = newDirectory()
    await leave(dataDir)
    expect(existsSync(join(dataDir, 'control.sock'))).toBe(true)
    const server = await startServer({ dataDir })
    expect((await runCommand(['status'], server)).stdout).toContain(server.url)
    await server.stop()
  })

  test('works in a directory whose path is too long for a socket address', async () => {
    const dataDir = join(newDirectory(), 'x'.repeat(120), 'y'.repeat(120))
    mkdirSync(dataDir, { recursive: true })
    const server = await startServer({ dataDir })
    expect(statSync(join(dataDir, 'control.sock')).mode & 0o777).toBe(0o600)
    expect((await runCommand(['status'], server)).stdout).toContain(server.url)
    expect((await runCommand(['check'], server)).code).toBe(0)
    expect(await server.stop()).toBe(0)
    expect(readdirSync(dataDir)).not.toContain('control.sock')
  })

  test('may fail to open: the service starts without it', async () => {
    const dataDir = newDirectory()
    mkdirSync(join(dataDir, 'control.sock'))
    const server = await startServer({ dataDir })
    await logged(server, '"event":"control.unavailable"')
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect(await server.stop()).toBe(0)
  })

  test('refuses everything but its commands', async () => {
    const server = await startServer()
    const unix = join(server.dataDir, 'control.sock')
    const unknown = await fetch('http://control/other', { unix })
    expect(unknown.status).toBe(409)
    for (const body of ['', '[]', '{"file"', `{"file":${'['.repeat(100)}${']'.repeat(100)}}`]) {
      for (const command of ['sessions', 'identity']) {
        const answer = await fetch(`http://control/${command}`, { unix, method: 'POST', body })
        expect([answer.status, await answer.json()]).toEqual([
          409,
          { refused: 'a command is asked for with a JSON object' },
        ])
      }
    }
    expect(server.output()).not.toContain('control.failed')
    await server.stop()
  })
})

testOfFile('a backup over the control socket needs an absolute file name', async () => {
  const server = await startServer()
  const relative = await fetch('http://control/backup', {
    unix: join(server.dataDir, 'control.sock'),
    method: 'POST',
    body: JSON.stringify({ file: 'copy.db' }),
  })
  expect(await relative.json()).toEqual({ refused: 'a backup needs an absolute file name' })
  await server.stop()
})

describe('a data directory in use', () => {
  test('stops a second server with one line that explains it', async () => {
    const server = await startServer()
    const { code, stderr } = await runCommand(['serve'], server)
    expect(stderr).toBe(`cuponera: another Cuponera is using ${server.dataDir}: stop it first\n`)
    expect(code).toBe(1)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()
  })

  const reportsSilence = async (args: string) => {
    const dataDir = newDirectory()
    writeFileSync(join(dataDir, 'cuponera.db'), '')
    const lock = takeLock(join(dataDir, 'lock'))
    const { code, stderr } = await runCommand(args.split(' '), { dataDir })
    lock?.release()
    expect(stderr).toStartWith(
      `cuponera: ${dataDir} is in use by another process, but its control socket does not answer`,
    )
    expect(code).toBe(1)
  }
  const silence = 'used by a process that does not answer is reported so by: %s'
  test.each(['status'])(silence, reportsSilence)
  testOfFile.each(['check', 'backup copy.db', 'ledger balances'])(silence, reportsSilence)

  test('used by a server that hangs is reported so by status and health', async () => {
    const server = await startServer()
    process.kill(server.pid, 'SIGSTOP')
    const [status, health] = await Promise.all([
      runCommand(['status'], server),
      runCommand(['health'], server),
    ])
    process.kill(server.pid, 'SIGCONT')
    expect(status.stderr).toContain('its control socket does not answer')
    expect(health).toMatchObject({ code: 1, stdout: 'not ready: no answer in time\n' })
    await server.stop()
  })
})

describe('cuponera status and health', () => {
  test('report the address of the server and that it is ready, on any port', async () => {
    const server = await startServer({ env: { HOST: '0.0.0.0' } })
    const { code, stdout } = await runCommand(['status'], server)
    expect(stdout).toMatch(
      new RegExp(
        `^Cuponera \\S+ at http://\\S+:${new URL(server.url).port}, process ${server.pid}, up \\d+ s\n(one of 1 node.*\n)?$`,
      ),
    )
    expect(code).toBe(0)
    expect(await runCommand(['health'], server)).toEqual({
      code: 0,
      stdout: 'ready\n',
      stderr: '',
    })
    await server.stop()
  })

  test('health waits for the answer of a slow server, and its container for health', () => {
    const dockerfile = readFileSync(join(import.meta.dir, '../../Dockerfile'), 'utf8')
    const container = Number(/^HEALTHCHECK .*--timeout=(\d+)s/m.exec(dockerfile)?.[1])
    expect(limits.healthSeconds).toBeGreaterThan(limits.readyAnswerSeconds + 1)
    expect(container).toBeGreaterThan(limits.healthSeconds)
  })

  test('health says why a service is not ready', async () => {
    const refusal = { error: 'x', code: 'unavailable', cause: 'disk-full', retryAfter: 2 }
    let answer: () => Response = () => Response.json(refusal, { status: 503 })
    const full = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer() })
    const run = () => runCommand(['health'], { env: { PORT: String(full.port) } })
    const url = `http://127.0.0.1:${full.port}/readyz`
    expect(await run()).toMatchObject({
      code: 1,
      stdout: `not ready: ${url} answers 503 (unavailable, disk-full)\n`,
    })
    answer = () => new Response('<html>', { status: 502 })
    expect((await run()).stdout).toBe(`not ready: ${url} answers 502\n`)
    await full.stop(true)
  })

  test('work for a server on IPv6, too', async () => {
    const server = await startServer({ env: { HOST: '::' } })
    expect((await runCommand(['health'], server)).stdout).toBe('ready\n')
    await server.stop()
  })

  test('health uses the settings when the data directory is out of reach', async () => {
    const server = await startServer()
    const env = { PORT: new URL(server.url).port, HOST: '0.0.0.0' }
    const elsewhere = { dataDir: newDirectory(), env }
    expect((await runCommand(['health'], elsewhere)).code).toBe(0)
    await server.stop()
    expect((await runCommand(['health'], elsewhere)).code).toBe(1)
  })

  test('report that the server has stopped', async () => {
    const server = await startServer()
    await server.stop()
    const { code, stdout } = await runCommand(['health'], server)
    expect(stdout).toStartWith('not ready: ')
    expect(code).toBe(1)
    expect(await runCommand(['status'], server)).toEqual({
      code: 1,
      stdout: `no server is running on ${server.dataDir}\n`,
      stderr: '',
    })
  })

  const reportsMissing = async (args: string) => {
    const dataDir = join(newDirectory(), 'none')
    const { code, stderr } = await runCommand(args.split(' '), { dataDir })
    expect(stderr).toMatch(/^cuponera: there is no (data directory|file) \S+\n$/)
    expect(code).toBe(1)
    expect(existsSync(dataDir)).toBe(false)
  }
  const missing = 'report a missing directory in one line without a stack trace: %s'
  test.each(['status', 'keys import x'])(missing, reportsMissing)
  testOfFile.each(['check', 'backup x'])(missing, reportsMissing)
})
