/** Words that open the second copy of a key. */
import { wordlist } from '@scure/bip39/wordlists/spanish.js'

/** Eleven bits each. 66 bits are beyond all guessing where each guess costs a scrypt. */
const wordCount = 6

// The list has its accents apart from their letters.
const words = wordlist.map((word) => word.normalize('NFC'))
const byPlain = new Map(words.map((word) => [plain(word), word]))

/** New words, each as likely as any other. */
export function newWords(count = wordCount): string[] {
  const random = crypto.getRandomValues(new Uint16Array(count))
  // The list has 2048 words, which divides the range of a random number.
  return Array.from(random, (number) => words[number % words.length] ?? '')
}

/**
 * The password that a typed text stands for. Recovery words count without their case, accents, numbering and
 * spacing; any other text is a password of the person's own.
 */
export function passwordOf(typed: string): string {
  const found = tokensOf(typed).map((token) => byPlain.get(token))
  return found.length === wordCount && found.every(Boolean) ? found.join(' ') : typed
}

/** The one word in so many typed words that is in no list; null where they are right, or are no such words. */
export function mistypedWord(typed: string, count = wordCount): string | null {
  const tokens = tokensOf(typed)
  const wrong = tokens.filter((token) => !byPlain.has(token))
  return tokens.length === count && wrong.length === 1 ? (wrong[0] ?? null) : null
}

/** The words of the list in a typed text, without accents and in small letters. Null if another word is among them. */
export function plainWords(typed: string): string[] | null {
  const tokens = tokensOf(typed)
  return tokens.every((token) => byPlain.has(token)) ? tokens : null
}

function tokensOf(typed: string): string[] {
  return plain(typed).match(/\p{L}+/gu) ?? []
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
