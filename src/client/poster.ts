/** A poster as a visitor sees it. */
import { request } from './api.ts'
import type { ShownPoster } from './models.ts'

/** The address where a visitor takes a coupon of a poster. */
export function takePath(id: string): string {
  return `/api/posters/${encodeURIComponent(id)}/take`
}

/** Throws ApiError. */
export function fetchPoster(id: string): Promise<ShownPoster> {
  return request(`/api/posters/${encodeURIComponent(id)}`)
}
