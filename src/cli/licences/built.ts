import { collectNotices } from './collect.ts'

/** From source: collected when asked. In a compiled binary this module holds the text (see .tools/build.ts). */
export function loadNotices(): Promise<string> {
  return collectNotices()
}
