/** The reasons of problems, and whether they contradict an answer that had left. */
const reasons: readonly [words: RegExp, reason: string, contradicts: boolean][] = [
  [/does not come up/, 'no start', false],
  [/it fails: /, 'an answer that fails', false],
  [/a voucher that was |vouchers, not /, 'vouchers', true],
  [/cannot be spent|is spent twice/, 'vouchers', true],
  [/a coupon that was /, 'coupons', true],
  [/an event that was |of the outbox|is sent again/, 'events', true],
  [/is (not )?repeated |another one$| comes to /, 'repeats', true],
  [/the signature of /, 'signatures', true],
  [/the backup is missing|the file of the move is /, 'backups', true],
  [/of different moments/, 'moments', true],
  [/the key file /, 'keys', true],
  [/: \w+ was .* and is |^\w+ was .* and is /, 'facts', true],
]

/** The reason of a problem in a word. Anything else was found by the check of the program. */
export function reasonOf(problem: string): { reason: string; contradicts: boolean } {
  for (const [words, reason, contradicts] of reasons) {
    if (words.test(problem)) return { reason, contradicts }
  }
  return { reason: 'the check', contradicts: false }
}
