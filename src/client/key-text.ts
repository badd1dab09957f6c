/** Longest text in which a key is looked for. A backup is under a thousand characters. */
export const keyTextCharsMax = 20_000

/** A key as a person has it: `text` is an ncryptsec, an nsec or 64 hex digits. */
type FoundKey = { form: 'ncryptsec' | 'nsec' | 'hex'; text: string }

/** The reason why a text gives no key. */
export type KeyTrouble = 'key-several' | 'key-cut' | 'key-public' | 'key-unsure' | 'key-invalid'

const hex = '[0-9a-f]{64}'
/** Fields that name a secret key. `secret` is none: a signer's address calls its password so. */
const secretFields = '"(?:private_?key|priv_?key|secret_?key|sec_?key|sk)"'

/**
 * An ncryptsec has 91 bytes (NIP-49) and an nsec 32, so what follows without a space is not taken for the key.
 * A public key has 64 hex digits as well: those count only alone, in quotes or not, or in a JSON field that
 * names a secret key.
 */
const forms = [
  { form: 'ncryptsec', patterns: [/ncryptsec1[02-9ac-hj-np-z]{152}/gi] },
  { form: 'nsec', patterns: [/nsec1[02-9ac-hj-np-z]{58}/gi] },
  {
    form: 'hex',
    patterns: [
      new RegExp(`(?<=^["'“«]?(?:0x)?)${hex}(?=["'”»]?$)`, 'gi'),
      new RegExp(`(?<=${secretFields}\\s*:\\s*"(?:0x)?)${hex}(?=")`, 'gi'),
    ],
  },
] as const

/**
 * The key in a text: a backup as a whole, the content of a QR code, a line of a mail. An encrypted key goes
 * before an open one. Null where there is none, or several of one form: nobody could say which was meant.
 */
export function findKey(text: string): FoundKey | null {
  const found = keysIn(text)
  const [key] = found?.keys ?? []
  return found && key !== undefined && found.keys.size === 1
    ? { form: found.form, text: key }
    : null
}

/** The reason why `findKey` finds no key. */
export function keyTrouble(text: string): KeyTrouble {
  if (keysIn(text)) return 'key-several'
  const bounded = text.slice(0, keyTextCharsMax)
  if (/n(?:crypt)?sec1/i.test(bounded)) return 'key-cut'
  if (/n(?:pub|profile)1/i.test(bounded)) return 'key-public'
  return new RegExp(hex, 'i').test(bounded) ? 'key-unsure' : 'key-invalid'
}

/** The different keys of the first form that a text has; null where it has none. */
function keysIn(text: string): { form: FoundKey['form']; keys: ReadonlySet<string> } | null {
  const bounded = text.slice(0, keyTextCharsMax)
  // Mail programs break a long line, and mark the lines that they answer; pages add signs that nobody sees.
  const joined = bounded.replace(/=?\s+(?:>\s*)*|[\u00ad\u200b-\u200d\u2060]/g, '')
  const texts = [bounded.trim(), joined]
  for (const { form, patterns } of forms) {
    const matches = texts.flatMap((text) => patterns.flatMap((one) => text.match(one) ?? []))
    const keys = new Set(matches.map((key) => key.toLowerCase()))
    if (keys.size > 0) return { form, keys }
  }
  return null
}
