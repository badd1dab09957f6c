import { Type as t } from '@sinclair/typebox'
import { nullable, optional, pubkey, request, sentText, timestamp } from '../base/field-models.ts'
import { limits } from '../base/limits.ts'

export const SetupModel = request({
  code: sentText({
    maxLength: limits.setupCodeCharsMax,
    description: 'In any case; dashes and spaces do not matter',
  }),
})

export const SetUpModel = t.Object({ pubkey, npub: t.String() })

export const MerchantModel = t.Object({
  pubkey,
  npub: t.String(),
  label: nullable(t.String()),
  owner: t.Boolean({ description: 'Adds and removes others' }),
  createdAt: timestamp,
})

export const NewMerchantModel = request({
  pubkey: sentText({ description: 'npub, nprofile, hex, `nostr:` forms' }),
  label: optional(t.String({ description: 'At most 80 characters' })),
})
