import type { Script } from './run.ts'

/** Scripts that differed once. */
export const found: Script[] = []
