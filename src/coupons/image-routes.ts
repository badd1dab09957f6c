import { hashPart } from '../base/field-models.ts'
import { Elysia } from '../http/elysia.ts'
import { pictureHeaders } from '../http/picture.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route, textModel } from '../http/route.ts'
import type { createImageFinder } from './image.ts'

const pictureModel = textModel(
  'image/png, image/jpeg, image/gif, image/webp, image/avif',
  'The picture',
)

/** Route for pictures of coupons. Pages load them from this origin, so that no other server sees their visitors. */
export function imageRoutes(find: ReturnType<typeof createImageFinder>) {
  return new Elysia({
    name: 'images',
    prefix: '/api/coupons',
    ...feature({ tag: 'Vouchers', parameters: { hash: hashPart } }),
  }).get(
    '/images/:hash',
    async ({ params, request }) => {
      const { path, kind } = await find(params.hash.toLowerCase(), contextOf(request).address)
      const headers = pictureHeaders(kind.type, 'public, max-age=86400')
      return new Response(Bun.file(path), { headers })
    },
    {
      ...route({
        summary: 'The picture of a coupon, by sha256 of its address',
        access: 'public',
        answers: { 200: pictureModel },
        refusals: ['image-unknown', 'image-unavailable', 'disk-low'],
      }),
    },
  )
}
