import { Type as t } from '@sinclair/typebox'
import { pictureTypes } from './strip.ts'

/** Answer of POST /api/pictures. */
export const UploadedModel = t.Object({
  picture: t.Object({
    hash: t.String({ description: 'sha256 of the stored bytes, hex' }),
    url: t.String({
      description: 'Under the https PUBLIC_URL. Without one, the path at this service',
    }),
    type: t.Union(pictureTypes.map((type) => t.Literal(type))),
    bytes: t.Integer({ description: 'Length without metadata' }),
  }),
})
