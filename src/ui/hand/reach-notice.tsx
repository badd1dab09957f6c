import { linkReach } from '../browser/share.ts'
import { Notice } from '../parts/notice.tsx'
import { handWords as t } from '../words/hand.ts'

/** Says which phones can open the code on the screen, where not all can. */
export function ReachNotice() {
  const reach = linkReach()
  return reach === 'public' ? null : <Notice tone="wait">{t(`reach.${reach}`)}</Notice>
}
