import { createKeyBox } from '../../client/signer-local.ts'
import { painted } from '../browser/painted.ts'
import { device } from '../browser/storage.ts'

/** One key of this device, encrypted under a PIN. */
export function openKeyBox(name: string) {
  return createKeyBox({ name, store: device, beforeWork: painted, now: Date.now })
}
