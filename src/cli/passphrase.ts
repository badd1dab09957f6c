import { readFileSync, statSync } from 'node:fs'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'

/**
 * Read a passphrase from a file, or from the terminal without echo. A new one is typed twice and has a minimum
 * length. It is never read from the environment or the command line, which other processes can see.
 */
export async function readPassphrase(file: string | undefined, use: 'new' | 'known') {
  const passphrase = file === undefined ? await askFor(use) : fromFile(file)
  if ([...passphrase].length < limits.passphraseCharsMin && use === 'new') {
    throw new OperatorError(
      `the passphrase is too short: at least ${limits.passphraseCharsMin} characters`,
    )
  }
  return passphrase
}

function fromFile(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false })
  if (!there) throw new OperatorError(`there is no file ${path}`)
  if (there.size > limits.passphraseBytesMax) {
    throw new OperatorError(`${path} is too large for a passphrase`)
  }
  // Editors add a line end, which is no part of the passphrase.
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
}

async function askFor(use: 'new' | 'known'): Promise<string> {
  // A pipe could deliver a passphrase, but a script that does so belongs to `--passphrase-file`.
  if (!process.stdin.isTTY) {
    throw new OperatorError('there is no terminal to ask on: give --passphrase-file FILE', 'usage')
  }
  const typed = await ask('Passphrase: ')
  if (use === 'new' && (await ask('Once more: ')) !== typed) {
    throw new OperatorError('the two passphrases differ')
  }
  return typed
}

/** Read one line from the terminal without echo. */
async function ask(prompt: string): Promise<string> {
  const { stdin } = process
  // Echo is switched off before the prompt, so that early keystrokes are not shown.
  stdin.setRawMode(true)
  process.stderr.write(prompt)
  stdin.setEncoding('utf8')
  stdin.resume()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let typed: string[] = []
  const take = (chunk: string) => {
    for (const letter of chunk) {
      if (letter === '\r' || letter === '\n') return resolve(typed.join(''))
      // In raw mode, Ctrl-C and Ctrl-D arrive as characters.
      if (letter === '\u0003' || letter === '\u0004') {
        return reject(new OperatorError('interrupted'))
      }
      if (letter === '\u007f' || letter === '\b') typed = typed.slice(0, -1)
      else if (letter >= ' ' && typed.length < limits.passphraseBytesMax) typed.push(letter)
    }
  }
  stdin.on('data', take)
  try {
    return await promise
  } finally {
    stdin.off('data', take)
    stdin.pause()
    stdin.setRawMode(false)
    process.stderr.write('\n')
  }
}
