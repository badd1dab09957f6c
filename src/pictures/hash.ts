import { createHash } from 'node:crypto'

/** Name of a picture: the sha256 of its bytes, in hex. */
export function pictureHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
