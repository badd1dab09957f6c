import { loadNotices } from './built.ts'

/** Print the licence of every part of this program. */
export async function licences(): Promise<number> {
  try {
    await Bun.write(Bun.stdout, await loadNotices())
  } catch (cause) {
    // A closed pager, or `head`, ends the pipe early.
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EPIPE')) throw cause
  }
  return 0
}
