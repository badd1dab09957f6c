/** A text for searching, without accents and case: people type `cafe` for `café`. */
export function plainText(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim()
}

/** Whether every word occurs in the text, in any order. */
export function matchesWords(text: string, sought: string): boolean {
  const plain = plainText(text)
  return plainText(sought)
    .split(/\s+/)
    .every((word) => plain.includes(word))
}
