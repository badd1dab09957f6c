/** Upload of pictures. */
import type { Caller } from './caller.ts'

/** Upload a picture; its hash. The same picture again gives the same. Throws ApiError and SignerError. */
export async function uploadPicture(caller: Caller, picture: Blob): Promise<string> {
  return (await caller.call('POST /api/pictures', { body: picture })).picture.hash
}
