import type { Script } from './world.ts'

/** Scripts that failed once: shrunk by `npm run simulate`, and kept for good. */
export const found: readonly Script[] = []
