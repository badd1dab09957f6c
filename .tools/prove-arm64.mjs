#!/usr/bin/env node
// Proves the linux-arm64 binary on another machine: builds it, serves under qemu-user and runs the demo.
//   node .tools/prove-arm64.mjs [--host-demo] [--binary FILE]
// --host-demo runs the demo by this machine's binary; --binary takes a built file (with it, no build).
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const bun = join(root, 'node_modules/.bin/bun')
const qemu = 'qemu-aarch64-static'
const sysroot = '/usr/aarch64-linux-gnu'
const packages = [
  'qemu-user-static',
  'libc6-arm64-cross',
  'libgcc-s1-arm64-cross',
  'libstdc++6-arm64-cross',
]
const elfAarch64 = 183
const readySecondsMax = 60
const demoSecondsMax = 300
const stopSecondsMax = 20

const { values } = parseArgs({
  options: { 'host-demo': { type: 'boolean', default: false }, binary: { type: 'string' } },
})

const underQemu = { ...process.env, QEMU_LD_PREFIX: sysroot }

prepareQemu()
const binary = values.binary ? resolve(values.binary) : buildBinary()
if (readFileSync(binary).readUInt16LE(18) !== elfAarch64) {
  console.error(`prove-arm64: ${binary} is no arm64 executable`)
  process.exit(1)
}
const work = mkdtempSync(join(tmpdir(), 'cuponera-arm64-'))
try {
  await prove(work)
  console.log('prove-arm64: passed')
} catch (error) {
  console.error(`prove-arm64: FAILED: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function prove(folder) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = { HOST: '127.0.0.1', PORT: `${port}`, DATA_DIR: join(folder, 'data') }
  const server = spawn(qemu, [binary, 'serve'], {
    cwd: folder,
    env: { ...underQemu, ...settings },
    stdio: 'pipe',
  })
  let output = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  let exit = null
  const ended = new Promise((done) => {
    server.once('exit', (code, signal) => {
      exit = code ?? signal
      done()
    })
  })
  try {
    const started = Date.now()
    while (!(await isReady(url))) {
      if (exit !== null) throw new Error(`the server ended (${exit}):\n${output}`)
      if (Date.now() - started > readySecondsMax * 1000) throw new Error(`not ready:\n${output}`)
      await sleep(100)
    }
    console.log(`prove-arm64: ready after ${Date.now() - started} ms under emulation`)
    const engine = output.split('\n').find((line) => line.includes('secp256k1'))
    console.log(`prove-arm64: ${engine?.trim() ?? 'no engine line'}`)
    if (!/libsecp256k1 \(embedded\)/.test(engine ?? '')) {
      throw new Error(`the embedded engine is not in use:\n${output}`)
    }
    runDemo(folder, url)
    server.kill('SIGTERM')
    await Promise.race([ended, sleep(stopSecondsMax * 1000, undefined, { ref: false })])
    if (exit !== 0) throw new Error(`the server did not stop with 0 on SIGTERM but with ${exit}`)
    console.log('prove-arm64: stopped with 0 on SIGTERM')
  } finally {
    if (exit === null) server.kill('SIGKILL')
  }
}

function runDemo(folder, url) {
  const [command, args, env] = values['host-demo']
    ? [bun, [join(root, 'src/main.ts')], process.env]
    : [qemu, [binary], underQemu]
  const demo = spawnSync(command, [...args, 'demo', '--url', url], {
    cwd: folder,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: demoSecondsMax * 1000,
  })
  if (demo.status !== 0) throw new Error(`the demo ended with ${demo.status ?? demo.signal}`)
}

async function isReady(url) {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) })).ok
  } catch {
    return false
  }
}

function prepareQemu() {
  const missing =
    spawnSync(qemu, ['--version']).status !== 0 ||
    !existsSync(join(sysroot, 'lib/ld-linux-aarch64.so.1')) ||
    !existsSync(join(sysroot, 'lib/libstdc++.so.6'))
  if (!missing) return
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    console.error(`prove-arm64: install Debian's ${packages.join(' ')} first (or run this as root)`)
    process.exit(1)
  }
  const options = ['-q', 'install', '-y', '--no-install-recommends']
  execFileSync('apt-get', [...options, ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}

function buildBinary() {
  execFileSync(bun, [join(root, '.tools/build.ts'), '--target', 'linux-arm64'], {
    stdio: 'inherit',
  })
  return join(root, 'dist/cuponera-linux-arm64')
}

function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => done(port))
    })
  })
}
