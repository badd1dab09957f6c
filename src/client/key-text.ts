/** Longest text in which a key is looked for. A backup is under a thousand characters. */
export const keyTextCharsMax = 20_000

/** A key as a person has it: `text` is an ncryptsec, an nsec or 64 hex digits. */
type FoundKey = { form: 'ncryptsec' | 'nsec' | 'hex'; text: string }

const hex = '[0-9a-f]{64}'

/**
 * An ncryptsec has 91 bytes (NIP-49) and an nsec 32, so what follows without a space is not taken for the key.
 * A public key has 64 hex digits as well: those count only alone, or in a JSON field that names a secret key.
 */
const forms = [
  { form: 'ncryptsec', patterns: [/ncryptsec1[02-9ac-hj-np-z]{152}/gi] },
  { form: 'nsec', patterns: [/nsec1[02-9ac-hj-np-z]{58}/gi] },
  {
    form: 'hex',
    patterns: [
      new RegExp(`^${hex}$`, 'gi'),
      new RegExp(
        `(?<="(?:private_?key|priv_?key|secret_?key|sec_?key)"\\s*:\\s*")${hex}(?=")`,
        'gi',
      ),
    ],
  },
] as const

/**
 * The key in a text: a backup as a whole, the content of a QR code, a line of a mail. An encrypted key goes
 * before an open one. Null where there is none, or several of one form: nobody could say which was meant.
 */
export function findKey(text: string): FoundKey | null {
  const bounded = text.slice(0, keyTextCharsMax)
  // Mail programs break a long line in two.
  const texts = [bounded.trim(), bounded.replace(/=?\s+/g, '')]
  for (const { form, patterns } of forms) {
    const matches = texts.flatMap((text) => patterns.flatMap((one) => text.match(one) ?? []))
    const found = new Set(matches.map((key) => key.toLowerCase()))
    const [key] = found
    if (key !== undefined) return found.size === 1 ? { form, text: key } : null
  }
  return null
}
