import type { Pause } from './persist.ts'

/** Pauses between attempts. `wake` ends all of them at once, for a person who does not want to wait. */
export function createPauses(): { pause: Pause; wake(): void } {
  const waiting = new Set<() => void>()
  return {
    pause: (seconds) =>
      new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer)
          waiting.delete(end)
          resolve()
        }
        const timer = setTimeout(end, seconds * 1000)
        waiting.add(end)
      }),
    wake() {
      for (const end of [...waiting]) end()
    },
  }
}
