import { expect, test } from 'bun:test'
import { Type as t } from '@sinclair/typebox'
import { ValidationError } from '../../src/http/elysia.ts'

test('a validation error has no list of errors, and contains its value once and unindented', () => {
  const model = t.Object({ nonce: t.String() })
  const { message, valueError } = new ValidationError('body', model, { nonce: [['a']] })
  expect(valueError?.path).toBe('/nonce')
  expect(message).toBe('{"type":"validation","on":"body","found":{"nonce":[["a"]]}}')
})
