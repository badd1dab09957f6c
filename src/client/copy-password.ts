/** A password of one's own is guessed from a stolen file, without the wait of the page. */
const charsMin = 12
/** Fewer different characters are a repeated pattern. */
const differentMin = 6

/** The reason why a password does not protect a copy; null where it does. */
export function copyPasswordTrouble(password: string): 'short' | 'simple' | null {
  const chars = [...password]
  if (chars.length < charsMin) return 'short'
  const plain = /^[\d\s]*$/.test(password) || new Set(chars).size < differentMin
  return plain ? 'simple' : null
}
