/**
 * The log is folded into the file at 400 KB, in place of 10 MB (40 on a slow disk), so that a short life has folds under load. A
 * process of the program loads it with `--preload`, or is built with it (programs.ts).
 */
import { limits } from '../../src/base/limits.ts'

Object.assign(limits, { logFramesMax: 100, slowLogFramesMax: 100, foldRest: 10 })
