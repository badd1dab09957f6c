import { useState } from 'preact/hooks'
import { canShare, couponLink, linkReach, shareLink, whatsappLink } from '../browser/share.ts'
import { couponMessage } from '../hand/message.ts'
import { ToNumber } from '../hand/to-number.tsx'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { knownName } from '../state/merchant-names.ts'
import { moved } from '../state/reach.ts'
import { shownName } from '../words/benefit-text.ts'
import { couponWords } from '../words/coupon.ts'
import { handWords as t } from '../words/hand.ts'
import type { Held } from './holdings.ts'
import { notePassed } from './send.ts'
import { TakeButton } from './take-button.tsx'

type Props = { held: Held; onClose: () => void }

/** Gives the code of a coupon to another person, who then has the same one as its holder. */
export function PassOn({ held, onClose }: Props) {
  const [shown, setShown] = useState(false)
  const link = couponLink(held.nonce)
  const reach = linkReach()
  const message = couponMessage(held, { shop: knownName(held.npub), link, reach, held: true })
  // A service that has moved swaps no code.
  const shared = !held.own && !moved.value
  const passed = (to = '') => notePassed(held, to)
  const share = async () => {
    passed()
    const went = await shareLink(shownName(held.name, held.coupon), link)
    if (went === 'copied') say(t('hand.copied'))
    setShown(went === 'shown')
  }
  return (
    <Dialog title={t('pass.title')} onClose={onClose}>
      <div class="stack">
        <Notice tone="wait">
          <p>{t('pass.copy')}</p>
          {shared && <p>{t('pass.others')}</p>}
          {reach === 'network' && <p>{t('pass.network')}</p>}
        </Notice>
        {shared && (
          <TakeButton held={held} onTake={onClose}>
            {couponWords('take.action')}
          </TakeButton>
        )}
        <div class="actions">
          <ButtonLink icon="chat" newTab href={whatsappLink(message)} onClick={() => passed()}>
            {t('hand.whatsapp')}
          </ButtonLink>
          <Button icon={canShare() ? 'share' : 'link'} onClick={() => void share()}>
            {t(canShare() ? 'hand.share' : 'hand.link')}
          </Button>
        </div>
        {shown && <Field label={t('hand.url')} value={link} onText={() => undefined} />}
        <ToNumber message={message} onSend={passed} />
      </div>
    </Dialog>
  )
}
