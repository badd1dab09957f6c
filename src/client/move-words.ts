import { mistypedWord, newWords, plainWords } from './recovery-words.ts'

/** Eleven bits each, 88 in all: a stolen file can be tried for years, on many machines. */
const wordCount = 8

/** A new passphrase for a move: words without accents, as the age tool takes them, too. */
export function newMovePassphrase(): string {
  return plainWords(newWords(wordCount).join(' '))?.join(' ') ?? ''
}

/** The passphrase that a typed text stands for. Words count without their case, accents, numbering and spacing. */
export function movePassphraseOf(typed: string): string {
  const words = plainWords(typed)
  return words?.length === wordCount ? words.join(' ') : typed.normalize('NFKC')
}

/** The one of eight typed words that is in no list; null where they are right, or are no such words. */
export function mistypedMoveWord(typed: string): string | null {
  return mistypedWord(typed, wordCount)
}
