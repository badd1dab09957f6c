/**
 * Starts a program of this repository under the pinned Bun: `node .tools/start.mjs FILE [arguments]`.
 * First it installs missing packages and tries to fetch the native signature library. Every script of
 * package.json starts here, so each of them works in a fresh clone.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bun, root, setUp } from './install.mjs'

const [file, ...args] = process.argv.slice(2)
if (!file) {
  console.error('Usage: node .tools/start.mjs FILE [arguments]')
  process.exit(2)
}

// Only files in test/ and .tools/client/ need packages that running and building do not.
setUp({ tests: /^(test|\.tools\/client)\//.test(file) })

const child = spawn(bun, [join(root, file), ...args], { stdio: 'inherit' })
child.on('error', (error) => {
  console.error(`Could not start ${file}: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code ?? 1)
  for (const name of forwarded) process.removeAllListeners(name)
  process.kill(process.pid, signal)
})

const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP']
for (const name of forwarded) {
  process.on(name, () => {
    // A terminal sends ctrl-C to the child as well; passing it on would make it two.
    if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name)
  })
}
