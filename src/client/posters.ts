/** The requests of a merchant about posters, each with the merchant's session. */
import { requestAs } from './api.ts'
import type { Poster } from './models.ts'
import { once } from './once.ts'
import type { Session } from './session.ts'
import type { TextStore } from './texts.ts'

const posters = '/api/posters'

/** The limits of a poster that a merchant chooses. */
export type PosterLimits = Pick<
  Poster,
  'label' | 'perPerson' | 'perDay' | 'total' | 'startsAt' | 'endsAt'
>

export async function listPosters(session: Session): Promise<Poster[]> {
  return (await requestAs<{ posters: Poster[] }>(session, posters)).posters
}

/** Create a poster. After a lost answer, the next call with the same fields fetches it. */
export async function createPoster(
  session: Session,
  fields: PosterLimits & { couponId: string; timeZone: string },
  store: TextStore,
): Promise<Poster> {
  const body = JSON.stringify(fields)
  const send = (key: string) => {
    const headers = { 'Idempotency-Key': key }
    return requestAs<{ poster: Poster }>(session, posters, { body, headers })
  }
  return (await once('poster', body, send, store)).poster
}

export async function changePoster(
  session: Session,
  id: string,
  changes: Partial<PosterLimits> & { paused?: boolean },
): Promise<Poster> {
  const options = { method: 'PATCH', body: changes } as const
  return (await requestAs<{ poster: Poster }>(session, `${posters}/${id}`, options)).poster
}

export async function deletePoster(session: Session, id: string): Promise<void> {
  await requestAs(session, `${posters}/${id}`, { method: 'DELETE' })
}
