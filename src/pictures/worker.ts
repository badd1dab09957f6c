import { limits } from '../base/limits.ts'
import type { RowSweep } from '../db/jobs.ts'
import type { PictureStore } from './picture-store.ts'

/** Pictures that nothing uses any more, or that were never used. An editor uploads before it saves. */
export const pictureSweep: RowSweep<{ pictures: PictureStore }> = {
  async prune(tx, now) {
    const before = now - limits.pictureUnusedSeconds
    const unused = await tx.pictures.unused(limits.pictureSweepRowsMax, before)
    // Their merchants may use them again at this moment.
    await tx.lock(...unused.map(({ owner }) => ({ merchant: owner })))
    const ids = unused.map(({ id }) => id)
    return (await tx.pictures.prune(ids, before)) > 0
  },
}
