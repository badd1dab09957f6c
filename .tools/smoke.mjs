/**
 * `node .tools/smoke.mjs [BINARY]`: starts the built program in an empty directory as a new user would,
 * waits until it is ready, runs its own demo against it and stops it. Ends with `N passed, N failed`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const readyMsMax = 20_000
const commandMsMax = 120_000
const stopMsMax = 10_000

const scratch = mkdtempSync(join(tmpdir(), 'cuponera-smoke-'))
const total = { passed: 0, failed: 0 }
let server
try {
  // Away from the source tree and with a clean environment, so that the program depends on neither.
  const binary = join(scratch, 'cuponera')
  copyFileSync(resolve(process.argv[2] ?? 'dist/cuponera'), binary)
  chmodSync(binary, 0o755)
  const cwd = mkdtempSync(join(scratch, 'empty-'))
  const env = {
    PATH: process.env.PATH,
    HOME: scratch,
    TMPDIR: scratch,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    DATA_DIR: join(scratch, 'data'),
  }
  server = start(binary, [], { cwd, env })
  const url = await check('is ready in an empty directory', () => untilReady(server))
  await check('passes its own health check', () => succeed(binary, ['health'], { cwd, env }))
  await check('passes its own demo', () => succeed(binary, ['demo', '--url', url], { cwd, env }))
  await check('carries its pages', async () => {
    const page = await (await fetch(`${url}/panel`)).text()
    const [script] = page.match(/\/ui\/panel-\w+\.js/) ?? []
    const answer = await fetch(`${url}${script}`)
    if (answer.status !== 200) throw new Error(`no script for the panel: ${answer.status}`)
  })
  await check('tells the licences of its parts', () => {
    const notices = execFileSync(binary, ['licences'], { cwd, env, encoding: 'utf8' })
    for (const part of ['Bun', 'elysia', 'preact', 'libsecp256k1']) {
      if (!notices.includes(`\n  ${part}`)) throw new Error(`no licence of ${part}`)
    }
  })
  await check('stops clean on SIGTERM', async () => {
    server.process.kill('SIGTERM')
    const end = await within(stopMsMax, server.ended, 'the end of the server')
    if (end !== 0) throw new Error(`the server ended with ${end}`)
  })
  await check('writes nothing outside its data directory', () => {
    const litter = readdirSync(cwd)
    if (litter.length > 0) throw new Error(`found ${litter.join(', ')}`)
  })
} finally {
  server?.process.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
}
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 ? 1 : 0

async function check(name, step) {
  try {
    const result = await step()
    console.log(`(pass) the binary ${name}`)
    total.passed += 1
    return result
  } catch (error) {
    console.log(`(fail) the binary ${name}: ${error.message}`)
    total.failed += 1
  }
}

/** Starts a program whose output is shown and kept. */
function start(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const running = { process: child, output: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      process.stdout.write(text)
      running.output += text
    })
  }
  running.ended = new Promise((done) => {
    child.on('error', (error) => done(error.message))
    child.on('close', (code, signal) => done(code ?? signal))
  })
  return running
}

async function succeed(command, args, options) {
  const running = start(command, args, { ...options, timeout: commandMsMax, killSignal: 'SIGKILL' })
  const end = await running.ended
  if (end !== 0) throw new Error(`${args.join(' ')} ended with ${end}`)
}

/** The address in the start block, once /readyz answers 200 there. */
async function untilReady(running) {
  let ended
  running.ended.then((end) => {
    ended = end
  })
  for (const stop = Date.now() + readyMsMax; Date.now() < stop; await sleep(20)) {
    if (ended !== undefined) throw new Error(`the server ended with ${ended}`)
    const url = running.output.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0]
    const answer = url && (await fetch(`${url}/readyz`).catch(() => undefined))
    if (answer?.status === 200) return url
  }
  throw new Error(`no 200 from /readyz within ${readyMsMax} ms`)
}

async function within(limitMs, promise, what) {
  const late = sleep(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`${what} took more than ${limitMs} ms`)
  })
  return await Promise.race([promise, late])
}

/** A fixed port, unlike 0, lets `health` find the server by its settings as it does in a container. */
function freePort() {
  return new Promise((found, failed) => {
    const probe = createServer()
    probe.on('error', failed)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => found(port))
    })
  })
}
