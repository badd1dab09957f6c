import { type StringOptions, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'

/** A field of an answer. Unset is `null`. */
export const nullable = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()])
/** A field of a request. It may be absent or null. */
export const optional = <T extends TSchema>(schema: T) => t.Optional(nullable(schema))

/** A body or query of a request. Unknown keys are ignored, which Elysia does not do by default. */
export const request = <T extends TProperties>(fields: T) =>
  t.Object(fields, { additionalProperties: true })

/**
 * A text field of a request. Elysia's own error message quotes the value. `{"toString":1}` cannot be quoted and
 * would end as a fault, so the message is fixed here.
 */
export const sentText = (options: StringOptions) => t.String({ ...options, error: 'text expected' })

export const timestamp = t.Integer({ description: 'Unix seconds' })
export const pubkey = t.String({ pattern: '^[0-9a-f]{64}$' })
/** A part of a path, for the document. */
export type PathPart = { description: string; pattern?: string }

/** A UUID of a request, in any case. */
export const uuidPattern = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
export const uuidPart = (what: string): PathPart => ({
  description: `${what}: UUID`,
  pattern: uuidPattern,
})
export const keyPart: PathPart = {
  description: 'A public key: npub or hex',
  pattern: '^(npub1[02-9ac-hj-np-z]{58}|[0-9a-fA-F]{64})$',
}
export const hashPart: PathPart = {
  description: 'sha256, 64 hex digits',
  pattern: '^[0-9a-f]{64}$',
}
export const handlePart = (what: string): PathPart => ({
  description: what,
  pattern: '^[A-Za-z0-9_-]{22}$',
})
export const namePart: PathPart = {
  description: 'The name of an identity',
  pattern: '^[A-Za-z0-9_.-]{1,64}$',
}
