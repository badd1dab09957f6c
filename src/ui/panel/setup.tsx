import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../client/api-error.ts'
import { npubOf } from '../../nostr/keys.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field } from '../parts/field.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { QrReader } from '../parts/qr-reader.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { say } from '../parts/toast.tsx'
import { panelWords as t } from '../words/panel.ts'
import { failureText } from '../words/signer.ts'
import { later } from './later.tsx'
import { forgetSetupCode, heldCode, parseSetupCode } from './setup-code.ts'
import { loadOverview, session, setUp, signOut } from './state.ts'

const MoveIn = later(async () => (await import('./move-in.tsx')).MoveIn)

/** Asks for the setup code, by which the operator lets in the first merchant. */
export function Setup() {
  const heading = useArrival()
  const [text, setText] = useState(heldCode.value ?? '')
  const [missing, setMissing] = useState(false)
  const [unread, setUnread] = useState(false)
  const [bringing, setBringing] = useState(false)
  const { busy, failure, attempt } = useAttempt()
  const send = (code: string) => {
    setMissing(code === '')
    setUnread(false)
    if (code === '') return
    void attempt(async () => {
      try {
        await setUp(code)
      } catch (cause) {
        // Only a wrong code is forgotten: after a lost answer, a reload tries it again.
        if (isWrong(cause)) forgetSetupCode()
        throw cause
      }
      say(t('setup.done'))
    })
  }
  const read = (scanned: string) => {
    const code = parseSetupCode(scanned)
    setUnread(code === null)
    if (code === null) return
    setText(code)
    send(code)
  }
  const held = heldCode.value
  useEffect(() => {
    // A code from the address needs no tap.
    if (held !== null) read(held)
  }, [held])
  const wrong = isWrong(failure)
  if (bringing) {
    return (
      <section class="sheet stack wide not-allowed">
        <MoveIn code={text} onBack={() => setBringing(false)} />
      </section>
    )
  }
  // One sentence at the field; failures that are not about the code show below it.
  const error = () => {
    if (missing) return t('setup.missing')
    if (unread) return t('setup.unread')
    return wrong ? failureText(failure) : null
  }
  return (
    <section class="sheet stack wide not-allowed">
      <h1 ref={heading}>{t('setup.title')}</h1>
      <p>{t('setup.why')}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          send(text.trim())
        }}
      >
        <Field
          label={t('setup.code')}
          hint={t('setup.code.hint')}
          autoComplete="off"
          autoCapitalize="characters"
          spellcheck={false}
          value={text}
          onText={(typed) => {
            setMissing(false)
            setUnread(false)
            // People paste the whole address as well.
            setText(typed.includes('#') ? (parseSetupCode(typed) ?? typed) : typed)
          }}
          error={error()}
        />
        {failure !== null && !wrong && <Failure cause={failure} />}
        <Button kind="primary" wide type="submit" icon="key" busy={busy}>
          {t('setup.do')}
        </Button>
      </form>
      <p class="soft">{t('setup.where')}</p>
      <QrReader onRead={read} />
      <Button icon="download" wide onClick={() => setBringing(true)}>
        {t('in.move')}
      </Button>
      {/* Without the code, the operator can add this key on the machine of the service. */}
      <details>
        <summary>{t('setup.none')}</summary>
        <OwnKey why={t('setup.none.why')} />
      </details>
      <div>
        <Button kind="quiet" icon="exit" onClick={signOut}>
          {t('me.out')}
        </Button>
      </div>
    </section>
  )
}

function isWrong(cause: unknown): boolean {
  return cause instanceof ApiError && cause.code === 'setup-code-wrong'
}

/** Tells a key without access whom to ask, and shows the key to be added. */
export function NotAllowed() {
  const heading = useArrival()
  return (
    <section class="sheet stack not-allowed">
      <h1 ref={heading}>{t('not-allowed.title')}</h1>
      <OwnKey why={t('not-allowed.why')} />
      <div class="actions">
        <Button onClick={() => void loadOverview()}>{t('retry')}</Button>
        <Button kind="quiet" icon="exit" onClick={signOut}>
          {t('me.out')}
        </Button>
      </div>
    </section>
  )
}

/** The key that is signed in, for the person who adds it: as text, to copy or to scan. */
function OwnKey({ why }: { why: string }) {
  const who = session.who.value
  if (!who) return null
  const npub = npubOf(who.pubkey)
  return (
    <div class="stack">
      <p>{why}</p>
      <div class="qr-box small-qr">
        <QrCode text={npub} label={t('key.qr')} />
      </div>
      <div>
        <CopyButton text={npub} />
      </div>
      <ShopKey npub={npub} />
    </div>
  )
}
