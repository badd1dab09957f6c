import type { Static } from '@sinclair/typebox'
import { Refusal } from '../base/refusal.ts'
import { addedView } from '../coupons/definition.ts'
import { npubOf } from '../nostr/keys.ts'
import type { ShownPosterModel } from './models.ts'
import { posterState } from './poster.ts'
import type { PosterService } from './service.ts'

/** The page of a poster: its state and its coupon, without counters. Refuses `poster-unknown`. */
export function showPoster(
  { database, coupons }: PosterService,
  id: string,
): Promise<Static<typeof ShownPosterModel>> {
  return database.snapshot(async (tx) => {
    const poster = await tx.posters.find(id)
    const definition = poster && (await tx.definitions.find(poster.couponId))
    if (!definition || poster.deletedAt !== null) throw new Refusal('poster-unknown')
    const { name, description, image, benefit, expiresAt } = definition
    const { startsAt, endsAt } = poster
    const state = posterState(poster, definition, coupons.now())
    return {
      poster: { id, state, startsAt, endsAt },
      ...{ name, description, image, coupon: benefit },
      npub: npubOf(definition.owner),
      expiresAt,
      ...addedView(definition),
    }
  })
}
