import type { Keypair, SchnorrEngine } from './schnorr.ts'
import type { Perform } from './task-ring.ts'

const hashBytes = 32
const pubkeyBytes = 32
const signatureAt = hashBytes + pubkeyBytes
const checkBytes = signatureAt + 64

const right = new Uint8Array([1])
const wrong = new Uint8Array([0])

/** The work of the crypto thread: a hash alone is signed, a longer task is a signature to check (BIP-340). */
export function performWith(engine: Pick<SchnorrEngine, 'verify'>, pair: Keypair): Perform {
  return (task) => {
    if (task.length === hashBytes) return pair.sign(task)
    if (task.length !== checkBytes)
      throw new RangeError('a task is a hash, or a signature to check')
    const hash = task.slice(0, hashBytes)
    const pubkey = task.slice(hashBytes, signatureAt)
    return engine.verify(task.slice(signatureAt), hash, pubkey) ? right : wrong
  }
}

/** The task that checks a signature, all of the right lengths. `isRight` reads its result. */
export function checkOf(signature: Uint8Array, hash: Uint8Array, pubkey: Uint8Array): Uint8Array {
  const task = new Uint8Array(checkBytes)
  task.set(hash)
  task.set(pubkey, hashBytes)
  task.set(signature, signatureAt)
  return task
}

export const isRight = (result: Uint8Array): boolean => result[0] === 1
