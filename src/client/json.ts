/** What a browser keeps for us, as long as it has grown; read with care, since an older build wrote there too. */

/** The value in a text; null when it is none. */
export function parseJson(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The object in a text, when it has a text under each of these names; else null. */
export function parseRecord(
  text: string | null,
  ...names: readonly string[]
): Record<string, unknown> | null {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const record = value as Record<string, unknown>
  return names.every((name) => typeof record[name] === 'string') ? record : null
}
