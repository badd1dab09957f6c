/** The calls of a merchant about posters, each with the merchant's session. */
import type { Caller } from './caller.ts'
import type { Poster } from './models.ts'
import { once } from './once.ts'

/** The limits of a poster that a merchant chooses. */
export type PosterLimits = Pick<
  Poster,
  'label' | 'perPerson' | 'perDay' | 'total' | 'startsAt' | 'endsAt'
>

export async function listPosters(caller: Caller): Promise<Poster[]> {
  return (await caller.call('GET /api/posters')).posters
}

/** Create a poster. After a lost answer, the next call with the same fields fetches it. */
export async function createPoster(
  caller: Caller,
  fields: PosterLimits & { couponId: string; timeZone: string },
): Promise<Poster> {
  const create = (name: string) => caller.call('POST /api/posters', { body: fields, once: name })
  return (await once(caller, 'poster', fields, create)).poster
}

export async function changePoster(
  caller: Caller,
  id: string,
  changes: Partial<PosterLimits> & { paused?: boolean },
): Promise<Poster> {
  return (await caller.call('PATCH /api/posters/{id}', { path: { id }, body: changes })).poster
}

export async function deletePoster(caller: Caller, id: string): Promise<void> {
  await caller.call('DELETE /api/posters/{id}', { path: { id } })
}
