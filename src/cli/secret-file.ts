import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { writeDurably } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { nsecOf, parseSecret } from '../nostr/keys.ts'

/** A new secret key. */
export function newSecret(): Uint8Array {
  return parseSecret(randomBytes(32).toString('hex')) ?? newSecret()
}

/** The secret key in a file (nsec or hex), which is created if it is missing. Throws OperatorError. */
export function secretIn(file: string): Uint8Array {
  if (!existsSync(file)) writeDurably(file, `${nsecOf(newSecret())}\n`)
  const secret = parseSecret(readFileSync(file, 'utf8'))
  if (!secret) throw new OperatorError(`${file} does not hold an nsec`)
  return secret
}
