import type { Answer } from './client.ts'

/** Ask again and again until the answer is 429; that answer, and the number of those before it. */
export async function untilLimited(ask: () => Promise<Answer>, most = 4000) {
  for (let before = 0; before < most; before += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    const at = answers.findIndex(({ status }) => status === 429)
    const limited = answers[at]
    if (limited) return { limited, before: before + at, answers }
  }
  throw new Error(`not limited after ${most} requests`)
}
