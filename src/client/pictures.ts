/** Upload of pictures. */
import { requestAs } from './api.ts'
import type { Session } from './session.ts'

/** Upload a picture; its hash. The same picture again gives the same. Throws ApiError and SignerError. */
export async function uploadPicture(session: Session, picture: Blob): Promise<string> {
  const options = { method: 'POST', body: picture } as const
  const answer = await requestAs<{ picture: { hash: string } }>(session, '/api/pictures', options)
  return answer.picture.hash
}
