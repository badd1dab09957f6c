import { createKeyBox } from '../../client/signer-local.ts'
import { device } from '../browser/storage.ts'

/** The place of one key on this device. */
export function openKeyBox(name: string) {
  return createKeyBox({ name, store: device, beforeWork: painted })
}

/** Lets the page show first that it is at work. */
function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
}
