/** Longest text in which a key is looked for. A backup is under a thousand characters. */
export const keyTextCharsMax = 20_000

/** A key as a person has it: `text` is an ncryptsec, an nsec or 64 hex digits. */
type FoundKey = { form: 'ncryptsec' | 'nsec' | 'hex'; text: string }

/** An ncryptsec has 91 bytes (NIP-49) and an nsec 32, so what follows without a space is not taken for the key. */
const forms = [
  { form: 'ncryptsec', pattern: /ncryptsec1[02-9ac-hj-np-z]{152}/gi },
  { form: 'nsec', pattern: /nsec1[02-9ac-hj-np-z]{58}/gi },
  { form: 'hex', pattern: /(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/gi },
] as const

/**
 * The key in a text: a backup as a whole, the content of a QR code, a line of a mail. An encrypted key goes
 * before an open one. Null where there is none, or several of one form: nobody could say which was meant.
 */
export function findKey(text: string): FoundKey | null {
  const bounded = text.slice(0, keyTextCharsMax)
  // Mail programs break a long line in two.
  return findIn(bounded) ?? findIn(bounded.replace(/=?\s+/g, ''))
}

function findIn(text: string): FoundKey | null {
  for (const { form, pattern } of forms) {
    const found = new Set([...text.matchAll(pattern)].map(([key]) => key.toLowerCase()))
    const [key] = found
    if (key !== undefined) return found.size === 1 ? { form, text: key } : null
  }
  return null
}
