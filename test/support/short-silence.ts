/** Loaded into a process of the program with `--preload`, so that a test need not wait ten seconds for a silent server. */
import { limits } from '../../src/base/limits.ts'

/** Seconds until a silent server is given up, and until a session counts as one that waits on. */
export const shortSilence = { databaseAnswerSeconds: 2, standbyWaitSeconds: 0.5 }

Object.assign(limits, shortSilence)
