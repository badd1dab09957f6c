import { collectNotices } from './collect.ts'

/** Collect the licences. In a compiled binary, `.tools/build.ts` replaces this module by one with the text. */
export function loadNotices(): Promise<string> {
  return collectNotices()
}
