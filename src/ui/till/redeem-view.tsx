import { useRef, useState } from 'preact/hooks'
import { scanCharsMax } from '../../client/scan.ts'
import { groupTyped } from '../../client/typed-code.ts'
import { cameraTrouble } from '../browser/camera.ts'
import { canPaste, copiedText } from '../browser/clipboard.ts'
import { readPhoto } from '../browser/qr-reader.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { CodeField, slipIn } from '../parts/code-field.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { shownName } from '../words/benefit-text.ts'
import { moment } from '../words/format.ts'
import { tillWords as t } from '../words/till.ts'
import { OutcomeView, outcomeTone } from './outcome-view.tsx'
import { ScannerView } from './scanner-view.tsx'
import {
  cameraOpen,
  notCoupon,
  openScanner,
  recent,
  redemption,
  settle,
  take,
  unsettled,
} from './state.ts'
import { TlsHelp } from './tls-help.tsx'

/** Redeeming: the ways to enter a code, open redemptions, and recent outcomes. */
export function RedeemView() {
  const state = redemption.value
  return state.step === 'idle' ? <Idle /> : <OutcomeView state={state} />
}

function Idle() {
  const heading = useArrival()
  return (
    <div class="stack wide">
      <div class="stack tight">
        <h1 ref={heading} tabIndex={-1}>
          {t('redeem.title')}
        </h1>
        <p class="soft">{t('redeem.lead')}</p>
      </div>
      {cameraOpen.value ? <ScannerView /> : <Ways />}
      <Unsettled />
      <Recent />
    </div>
  )
}

function Ways() {
  const trouble = cameraTrouble()
  return (
    <div class="stack wide">
      <div class="stack">
        {trouble ? (
          <Notice tone="wait" icon="camera">
            {t(`camera.${trouble}`)} {trouble === 'insecure' && <TlsHelp />}
          </Notice>
        ) : (
          <Button kind="primary" icon="camera" wide class="huge" onClick={openScanner}>
            {t('redeem.camera')}
          </Button>
        )}
        <PhotoButton primary={trouble !== null} />
      </div>
      <TypedCode />
    </div>
  )
}

/** Reads a code from a photo, which works on plain http, where browsers give no camera. */
function PhotoButton({ primary }: { primary: boolean }) {
  // The part that reads photos loads with the first one, which fails without a connection.
  const { busy, failure, attempt } = useAttempt()
  const [empty, setEmpty] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const read = async (file: File) => {
    setEmpty(false)
    // Cleared, or choosing the same photo again would fire no event.
    if (input.current) input.current.value = ''
    const text = await readPhoto(file)
    if (text === null) setEmpty(true)
    else take([text])
  }
  return (
    <div class="stack tight">
      <label
        class={`button ${primary ? 'primary huge' : 'plain big'} wide file-button`}
        aria-busy={busy}
      >
        {busy ? <span class="spinner" aria-hidden="true" /> : <Icon name="image" />}
        <span>{t('redeem.photo')}</span>
        <input
          ref={input}
          type="file"
          accept="image/*"
          capture="environment"
          disabled={busy}
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? []
            if (file) void attempt(() => read(file))
          }}
        />
      </label>
      {empty && <Notice tone="wait">{t('redeem.photo.none')}</Notice>}
      {failure !== null && <Failure cause={failure} />}
    </div>
  )
}

function TypedCode() {
  const [text, setText] = useState('')
  const [unpasted, setUnpasted] = useState<'empty' | 'denied' | null>(null)
  const pasting = useAttempt()
  const looks = notCoupon.value
  const enter = (whole: string) => setText(take([whole]).kind === 'coupon' ? '' : whole)
  const paste = async () => {
    const copied = await copiedText()
    // Meanwhile a scanner may have read a coupon.
    if (redemption.peek().step !== 'idle') return
    notCoupon.value = null
    setUnpasted(copied === null ? 'denied' : copied.trim() === '' ? 'empty' : null)
    if (copied?.trim()) enter(groupTyped(copied.trim().slice(0, scanCharsMax)))
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        setUnpasted(null)
        enter(text)
      }}
    >
      <CodeField
        label={t('redeem.code')}
        hint={t('redeem.code.hint')}
        error={
          unpasted !== null
            ? t(`redeem.paste.${unpasted}`)
            : looks && ((looks === 'text' && slipIn(text)) || t(`redeem.other.${looks}`))
        }
        value={text}
        onText={(typed) => {
          notCoupon.value = null
          setUnpasted(null)
          setText(typed)
        }}
        beside={
          <>
            {canPaste() && (
              <Button icon="copy" busy={pasting.busy} onClick={() => void pasting.attempt(paste)}>
                {t('redeem.paste')}
              </Button>
            )}
            <Button type="submit">{t('redeem.look')}</Button>
          </>
        }
      />
      {pasting.failure !== null && <Failure cause={pasting.failure} />}
    </form>
  )
}

function Unsettled() {
  const list = unsettled.value
  if (list.length === 0) return null
  return (
    <section class="sheet stack" aria-labelledby="unsettled">
      <h2 id="unsettled">{t('pending.title')}</h2>
      <p class="soft">{t('pending.detail')}</p>
      <ul class="lines">
        {list.map((pending) => {
          const name = shownName(pending.name, pending.coupon)
          return (
            <li key={pending.nonce} class="row apart">
              <span class="grow">
                <strong>
                  <bdi>{name}</bdi>
                </strong>
                <br />
                <span class="soft small">{moment(pending.startedAt)}</span>
              </span>
              <Button aria-label={t('pending.settle.of', { name })} onClick={() => settle(pending)}>
                {t('pending.settle')}
              </Button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Recent() {
  const list = recent.value
  if (list.length === 0) return null
  return (
    <section class="stack tight" aria-labelledby="recent">
      <h2 id="recent">{t('recent.title')}</h2>
      <ul class="lines">
        {list.map(({ outcome, name, coupon, at }) => (
          <li key={`${at}${name}`} class="row apart">
            <span class="grow">
              <bdi>{shownName(name, coupon)}</bdi> <span class="soft small">· {moment(at)}</span>
            </span>
            <Badge tone={outcomeTone[outcome]}>{t(`done.${outcome}`)}</Badge>
          </li>
        ))}
      </ul>
    </section>
  )
}
