import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Notice, type Tone } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupon.ts'
import type { Held } from './holdings.ts'
import { type Sending, send } from './send.ts'
import { TakeButton } from './take-button.tsx'

const tones = {
  sent: 'good',
  'not-sent': 'idle',
  moved: 'moved',
  unknown: 'wait',
} as const satisfies Record<string, Tone>

const commentCharsMax = 200
const addressForm = /^[^\s@]+@[^\s@]+$/

/** Sends a coupon to an address, and shows the outcome. */
export function SendView({ held, onClose }: { held: Held; onClose: () => void }) {
  const [to, setTo] = useState('')
  const [comment, setComment] = useState('')
  const [wrong, setWrong] = useState(false)
  const [sending, setSending] = useState<Sending | null>(null)
  const submit = async () => {
    const address = to.trim().replace(/^lightning:/i, '')
    const good = addressForm.test(address)
    setWrong(!good)
    if (!good) return
    setSending({ step: 'sending' })
    setSending(await send(held, address, comment.trim()))
  }
  const busy = sending?.step === 'sending'
  if (sending && sending.step !== 'sending' && sending.step !== 'refused') {
    return <Outcome held={held} sending={sending} onClose={onClose} onAgain={() => void submit()} />
  }
  return (
    <Dialog title={t('send.title')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) void submit()
        }}
      >
        <p class="soft">{t('send.detail')}</p>
        <Field
          data-begin
          label={t('send.to')}
          error={wrong ? t('send.wrong') : null}
          value={to}
          onText={(text) => {
            setWrong(false)
            setTo(text)
          }}
          autoComplete="off"
          spellcheck={false}
          maxLength={255}
        />
        <Field
          label={t('send.comment')}
          value={comment}
          onText={setComment}
          maxLength={commentCharsMax}
        />
        {sending?.step === 'refused' && (
          <Notice tone="bad">{sending.reason ?? notSentText(held)}</Notice>
        )}
        <Button type="submit" kind="primary" big icon="send" busy={busy}>
          {t(busy ? 'send.working' : 'send.action')}
        </Button>
      </form>
    </Dialog>
  )
}

/** A person who got the code before may still use it, also when this attempt did not send it. */
function notSentText({ sent }: Held): string {
  return sent ? openSendText(sent) : t('send.not-sent.detail')
}

/** A coupon whose code another person may have. */
export function openSendText({ to }: NonNullable<Held['sent']>): string {
  return to === '' ? t('pass.open') : t('send.open', { to })
}

type OutcomeProps = {
  held: Held
  sending: Extract<Sending, { to: string }>
  onClose: () => void
  onAgain: () => void
}

function Outcome({ held, sending: { step, to, reason }, onClose, onAgain }: OutcomeProps) {
  return (
    <Dialog title={t(`send.${step}`)} onClose={onClose}>
      <div class="stack">
        <Notice tone={tones[step]}>
          <p>{step === 'not-sent' ? notSentText(held) : t(`send.${step}.detail`, { to })}</p>
          {reason && <p class="small">{reason}</p>}
        </Notice>
        {/* The receiver may still take it: only a swap ends that. */}
        {step === 'unknown' && (
          <>
            <TakeButton held={held} onTake={onClose}>
              {t('send.recover')}
            </TakeButton>
            <Button icon="send" onClick={onAgain}>
              {t('send.again')}
            </Button>
          </>
        )}
      </div>
    </Dialog>
  )
}
