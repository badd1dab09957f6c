import { useEffect, useState } from 'preact/hooks'
import { followChain } from '../../client/management.ts'
import type { Definition, Issuance } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { moment, short } from '../words/format.ts'
import { failureText } from '../words/signer.ts'
import { session, voidVoucher } from './state.ts'
import { shownStatus, toneOf } from './tones.ts'

type Props = { coupon: Definition; voucher: Issuance; onClose: () => void }

/** The chain of a voucher: each refresh made a successor, and the last one is the valid one. */
export function Chain({ coupon, voucher, onClose }: Props) {
  const [links, setLinks] = useState<readonly Issuance[] | null>(null)
  // Set by the first tap on the red button.
  const [sure, setSure] = useState(false)
  const loading = useAttempt()
  const voiding = useAttempt()
  const load = () =>
    loading.attempt(async () => setLinks(await followChain(session, coupon.id, voucher.handle)))
  useEffect(() => void load(), [voucher.handle])

  const last = links?.at(-1)
  const open = last?.status === 'minted'
  const voidIt = () => {
    // The first tap shows what will happen: a void cannot be undone.
    if (!sure) return setSure(true)
    void voiding.attempt(async () => {
      // By the chain and not by the last handle: it may move on between the list and the tap.
      await voidVoucher(coupon.id, voucher.handle, true)
      say(t('chain.void.done'))
      setSure(false)
      // The list shows the void in place of the button.
      await load()
    })
  }
  return (
    <Dialog title={t('chain.title')} onClose={onClose}>
      <div class="stack">
        <p class="soft">{t('chain.why')}</p>
        {loading.failure !== null && <Notice tone="bad">{failureText(loading.failure)}</Notice>}
        {links === null && loading.failure === null && <p class="soft">{t('loading')}</p>}
        <ol class="chain">
          {links?.map((link, at) => (
            // The row that the merchant came from is marked.
            <li key={link.handle} class={link.handle === voucher.handle ? 'here' : ''}>
              <div class="row apart">
                <span class="mono">{short(link.handle)}</span>
                <Badge tone={toneOf[shownStatus(link)]}>{t(`status.${shownStatus(link)}`)}</Badge>
              </div>
              <p class="soft small">
                {at === 0 ? t('chain.minted') : t('chain.taken')} · {moment(link.mintedAt)}
              </p>
              {endOf(link) !== null && (
                <p class="soft small">
                  {t(`status.${link.status}`)} · {moment(endOf(link) ?? 0)}
                </p>
              )}
            </li>
          ))}
        </ol>
        {voiding.failure !== null && <Notice tone="bad">{failureText(voiding.failure)}</Notice>}
        {open && sure && <Notice tone="bad">{t('issued.void.why')}</Notice>}
        {open && (
          <Button kind="danger" icon="stop" busy={voiding.busy} onClick={voidIt}>
            {t('chain.void')}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

/** The time of a redemption or void. A refresh has none here: its successor shows the same time. */
function endOf({ claimedAt, voidedAt }: Issuance): number | null {
  return claimedAt ?? voidedAt
}
