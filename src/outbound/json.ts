/** What the bytes say, or undefined when they are not JSON in UTF-8. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    // TypeError: not UTF-8. RangeError: nested deeper than the parser's stack.
    const expected = [SyntaxError, TypeError, RangeError]
    if (expected.some((type) => error instanceof type)) return undefined
    throw error
  }
}

/** The JSON object in the bytes, or null. */
export function parseJsonObject(body: Uint8Array): Record<string, unknown> | null {
  const value = parseJson(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return value as Record<string, unknown>
}
