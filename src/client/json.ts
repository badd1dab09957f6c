/** JSON texts that a browser kept. They have no bound on their length, and an older build may have written them. */
import { asObject } from '../base/json.ts'

/** The value of a text; null when the text is missing or no JSON. */
export function parseStored(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A value whose objects have their keys in one order, so that equal values are equal texts. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  const object = asObject(value)
  if (!object) return value
  const names = Object.keys(object).sort((a, b) => (a < b ? -1 : 1))
  return Object.fromEntries(names.map((name) => [name, inOrder(object[name])]))
}

/** The object of a text, when it has a string under each of these names; else null. */
export function parseRecord(
  text: string | null,
  ...names: readonly string[]
): Record<string, unknown> | null {
  const record = asObject(parseStored(text))
  return record && names.every((name) => typeof record[name] === 'string') ? record : null
}
