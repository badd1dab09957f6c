import { limits } from '../base/limits.ts'
import type { RowSweep } from '../db/jobs.ts'
import type { PictureStore } from './picture-store.ts'

/** Pictures that nothing uses any more, or that were never used. An editor uploads before it saves. */
export const pictureSweep: RowSweep<{ pictures: PictureStore }> = {
  prune: async ({ pictures }, now) =>
    (await pictures.prune(limits.pictureSweepRowsMax, now - limits.pictureUnusedSeconds)) > 0,
}
