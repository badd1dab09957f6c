import { type StringOptions, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'

/** JSON answers `null` for what is unset. */
export const nullable = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()])
/** Requests may leave a field out or send null. */
export const optional = <T extends TSchema>(schema: T) => t.Optional(nullable(schema))

/** A body or query of a request. Unknown keys are ignored; Elysia would refuse them where a schema does not say. */
export const request = <T extends TProperties>(fields: T) =>
  t.Object(fields, { additionalProperties: true })

/**
 * A text that a request brings. With a sentence of its own Elysia does not write one that quotes
 * what was sent, and `{"toString":1}` cannot even be quoted: that would end as a fault.
 */
export const sentText = (options: StringOptions) => t.String({ ...options, error: 'text expected' })

export const timestamp = t.Integer({ description: 'Unix seconds' })
export const pubkey = t.String({ pattern: '^[0-9a-f]{64}$' })
