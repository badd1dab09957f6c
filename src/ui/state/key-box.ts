import { createKeyBox } from '../../client/signer-local.ts'
import { keyCipher } from '../browser/key-cipher.ts'
import { device } from '../browser/storage.ts'

/** One key of this device, encrypted under a PIN. */
export function openKeyBox(name: string) {
  return createKeyBox({ name, store: device, cipher: keyCipher, now: Date.now })
}
