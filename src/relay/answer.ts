import { limits } from '../base/limits.ts'

/** The first events, as many as one answer may hold (`relayAnswerCharsMax`), and at least one. */
export function fitAnswer<K extends { text: string }>(events: readonly K[]): K[] {
  let chars = 0
  const end = events.findIndex(({ text }) => {
    chars += text.length
    return chars > limits.relayAnswerCharsMax
  })
  return end === -1 ? [...events] : events.slice(0, Math.max(end, 1))
}
