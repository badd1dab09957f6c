import { Type as t } from '@sinclair/typebox'
import { hashPart } from '../base/field-models.ts'
import { limits } from '../base/limits.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { isKnown } from '../http/etag.ts'
import { pictureHeaders } from '../http/picture.ts'
import { replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route, textModel } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { UploadedModel } from './models.ts'
import type { Pictures } from './service.ts'
import type { createPictureFinder } from './show.ts'
import { pictureTypes } from './strip.ts'
import { uploadPicture } from './upload.ts'

const media = pictureTypes.join(', ')

/** Upload of pictures by merchants, and the pictures themselves for everybody. */
export function pictureRoutes(
  pictures: Pictures,
  find: ReturnType<typeof createPictureFinder>,
  auth: Authenticator<Caller>,
) {
  return new Elysia({
    name: 'pictures',
    prefix: '/api',
    ...feature({ tag: 'Management', parameters: { hash: hashPart } }),
  })
    .get(
      '/pictures/:hash',
      async ({ params, request }) => {
        const hash = params.hash.toLowerCase()
        const { type, bytes } = await find(hash)
        const etag = `"${hash}"`
        const known = isKnown(etag, request.headers.get('if-none-match'))
        const headers = pictureHeaders(type, 'public, max-age=31536000, immutable')
        return new Response(known ? null : bytes, {
          status: known ? 304 : 200,
          headers: { ...headers, ETag: etag },
        })
      },
      {
        ...route({
          summary: 'An uploaded picture, by the sha256 of its bytes',
          access: 'public',
          answers: { 200: textModel(media, 'The picture'), 304: t.Null() },
          refusals: ['picture-unknown'],
        }),
      },
    )
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .post(
      '/pictures',
      async ({ caller, request }) => {
        const { fresh, body } = await uploadPicture(pictures, caller, contextOf(request).body)
        return replyJson(fresh ? 201 : 200, body)
      },
      {
        ...route({
          summary: 'Upload a picture for a coupon or the shop; its metadata is removed',
          access: 'any',
          bodyBytesMax: limits.pictureBytesMax,
          body: textModel(media, `At most ${limits.pictureBytesMax} bytes`),
          answers: { 201: UploadedModel, 200: UploadedModel },
          refusals: [
            'picture-invalid',
            'picture-too-wide',
            'merchant-not-allowed',
            'pictures-full',
            'bytes-day-full',
            'disk-low',
          ],
        }),
      },
    )
}
