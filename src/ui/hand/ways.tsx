import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { copyText } from '../browser/clipboard.ts'
import {
  canShare,
  canSharePictures,
  couponLink,
  linkReach,
  shareLink,
  whatsappLink,
} from '../browser/share.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { saveImage, shareImage } from '../parts/coupon-picture.ts'
import { say } from '../parts/toast.tsx'
import { WrittenCode } from '../parts/written-code.tsx'
import { knownColor, knownLogo } from '../state/merchant-names.ts'
import { shownName } from '../words/benefit-text.ts'
import { handWords as t } from '../words/hand.ts'
import { couponMessage, type Handed } from './message.ts'
import { ToNumber } from './to-number.tsx'

type Props = {
  /** The coupon on the screen. */
  handed: Handed
  /** All coupons that were issued with it. */
  all?: readonly Handed[]
  /** Null where its name is unknown. */
  shop: string | null
  /** Called with those that were handed over. */
  onGiven?: (given: readonly Handed[]) => void
  /** False while a second tap of a double tap may arrive. */
  rested?: boolean
  /** A way of this page, beside the picture. */
  children?: ComponentChildren
}

/** The ways to hand a coupon over beside its code: a picture, a message or its link. */
export function Ways({ handed, all = [handed], shop, onGiven, rested = true, children }: Props) {
  const [open, setOpen] = useState(false)
  const link = couponLink(handed.nonce)
  const reach = linkReach()
  const look = { shop, color: knownColor(handed.npub), logo: knownLogo(handed.npub) }
  const message = couponMessage(handed, { shop, link, reach })
  const copy = async () => {
    const copied = await copyText(all.map(({ nonce }) => couponLink(nonce)).join('\n'))
    // Where the clipboard is forbidden, nothing was handed over.
    if (copied) onGiven?.(all)
    else setOpen(true)
    say(copied ? t('hand.copied') : t('hand.uncopied'), copied ? 'good' : 'wait')
  }
  // Picture, message and share take the one on the screen.
  const onOneGiven = () => onGiven?.([handed])
  const share = async () => {
    const went = await shareLink(shownName(handed.name, handed.coupon), link)
    if (went === 'copied') say(t('hand.copied'))
    if (went === 'shared' || went === 'copied') return onOneGiven()
    if (went === 'closed') return
    setOpen(true)
    say(t('hand.uncopied'), 'wait')
  }
  const phone = handed.recipient?.phone
  const draw = async (take: typeof saveImage) => {
    if (await take(handed, look)) onOneGiven()
  }
  // One is primary: of several coupons, printing them.
  const kind = reach === 'public' || all.length > 1 ? 'plain' : 'primary'
  const image = (
    <>
      {canSharePictures() && (
        <Button kind={kind} icon="share" onClick={() => void draw(shareImage)}>
          {t('hand.image.share')}
        </Button>
      )}
      <Button
        kind={canSharePictures() ? 'plain' : kind}
        icon="image"
        onClick={() => void draw(saveImage)}
      >
        {t('hand.image')}
      </Button>
    </>
  )
  return (
    <>
      <div class="actions" inert={!rested}>
        {/* A picture works at the till wherever its holder comes from, a link of one network does not. */}
        {reach !== 'public' && image}
        {children}
        <ButtonLink
          icon="chat"
          newTab
          href={whatsappLink(message, phone?.digits)}
          onClick={onOneGiven}
        >
          {phone ? t('hand.whatsapp.to', { number: phone.text }) : t('hand.whatsapp')}
        </ButtonLink>
        {canShare() && (
          <Button icon="share" onClick={() => void share()}>
            {t('hand.share')}
          </Button>
        )}
        <Button icon="link" onClick={() => void copy()}>
          {t(all.length > 1 ? 'hand.links' : 'hand.link')}
        </Button>
        {reach === 'public' && image}
      </div>
      <ToNumber message={message} onSend={onOneGiven} />
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t('hand.url')}</summary>
        <p class="mono small">{link}</p>
        <WrittenCode nonce={handed.nonce} onCopied={onOneGiven} />
      </details>
    </>
  )
}
