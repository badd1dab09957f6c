/** A poster as a visitor sees it. */
import { anyone } from './anyone.ts'
import type { ShownPoster } from './models.ts'

/** The address where a visitor takes a coupon of a poster. */
export function takePath(id: string): string {
  return `/api/posters/${encodeURIComponent(id)}/take`
}

/** Throws ApiError. */
export function fetchPoster(id: string): Promise<ShownPoster> {
  return anyone.call('GET /api/posters/{id}', { path: { id } })
}
