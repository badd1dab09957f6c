import { createKeyBox } from '../../client/signer-local.ts'
import { device } from '../browser/storage.ts'

/** One key of this device, encrypted under a PIN. */
export function openKeyBox(name: string) {
  return createKeyBox({ name, store: device, beforeWork: painted, now: Date.now })
}

/** Resolves after the next paint, so that a busy button shows before the work holds the page. */
function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
}
