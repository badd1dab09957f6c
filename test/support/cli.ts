import { cpSync } from 'node:fs'
import { call, createDefinition, mintOne, newKey, newSigner, openSession } from './client.ts'
import { program } from './program.ts'
import { databaseEnv, newDirectory, type ServerOptions, startServer } from './server.ts'

export type Run = { code: number; stdout: string; stderr: string }

export type RunOptions = { dataDir?: string; cwd?: string; env?: Record<string, string> }

/** Run a command as an operator would, to its end. */
export async function runCommand(args: string[], options: RunOptions = {}): Promise<Run> {
  const child = Bun.spawn([...program, ...args], {
    cwd: options.cwd ?? newDirectory(),
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      ...(options.dataDir && {
        DATA_DIR: options.dataDir,
        ...(await databaseEnv(options.dataDir)),
      }),
      ...options.env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

export type Populated = { dataDir: string; open: string; claimed: string; refreshed: string }

/** A data directory, closed clean, with vouchers in every phase; the nonces of three of them. */
export async function createPopulated(options: ServerOptions = {}): Promise<Populated> {
  const server = await startServer(options)
  const { url, dataDir } = server
  const token = await openSession(url, newSigner())
  const couponId = await createDefinition(url, token)
  const fields = { name: 'Otro', expiresAt: 4_102_444_800 }
  const other = await createDefinition(url, token, fields)
  const mint = async () => (await mintOne(url, token, couponId)).nonce as string
  const [open, claimed, refreshed, voided] = [
    await mint(),
    await mint(),
    await mint(),
    await mint(),
  ]
  await mintOne(url, token, other)
  await call(url, '/api/coupons/claim', { body: { nonce: claimed } })
  const refresh = { body: { nonce: refreshed }, headers: { 'Idempotency-Key': newKey() } }
  await call(url, '/api/coupons/refresh', refresh)
  await call(url, `/api/coupons/${couponId}/mints/${voided}`, { method: 'DELETE', token })
  await server.stop()
  return { dataDir, open, claimed, refreshed }
}

/** A copy of a closed data directory, to spoil. */
export function copyDirectory(dataDir: string): string {
  const copy = newDirectory()
  cpSync(dataDir, copy, { recursive: true })
  return copy
}

/**
 * Run a command on a terminal. Each step waits until its text has appeared on the screen, then types.
 */
export async function runInTerminal(
  args: string[],
  options: RunOptions,
  steps: [waitFor: string, type: string][],
): Promise<{ code: number; screen: string }> {
  let screen = ''
  const child = Bun.spawn([...program, ...args], {
    env: { PATH: process.env.PATH, ...(options.dataDir && { DATA_DIR: options.dataDir }) },
    terminal: {
      data(_, bytes) {
        screen += Buffer.from(bytes).toString()
      },
    },
  })
  for (const [text, keys] of steps) {
    while (!screen.includes(text) && child.exitCode === null) await Bun.sleep(5)
    child.terminal?.write(keys)
  }
  const code = await child.exited
  child.terminal?.close()
  return { code, screen }
}
