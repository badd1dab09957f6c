import { useRef, useState } from 'preact/hooks'
import { isUnreadable, type PageSigner, SignerError } from '../../client/signer.ts'
import { npubOf } from '../../nostr/keys.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { PinField } from '../parts/pin-field.tsx'
import { knownName } from '../state/merchant-names.ts'
import { keyWords as t } from '../words/key.ts'
import { failureText } from '../words/signer.ts'
import { BackButton, type EnterProps } from './enter.tsx'
import { ForgetKey } from './forget-key.tsx'
import { startShop } from './own-shop.ts'
import { NameField, nameError } from './shop-form.tsx'
import { keyBox } from './state.ts'

type UnlockProps = EnterProps & {
  pubkey: string
  /** Asked during a request: forgetting the key is not offered then. */
  asked: boolean
  onForgotten: () => void
}

/** Signing in by the key of this device and its PIN. */
export function Unlock({ pubkey, asked, enter, onForgotten, onBack }: UnlockProps) {
  const [pin, setPin] = useState('')
  const heading = useArrival()
  const { busy, failure, attempt } = useAttempt()
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) void attempt(async () => enter(await keyBox.unlock(pin, pubkey)))
      }}
    >
      <h2 ref={heading}>{t('in.unlock')}</h2>
      {knownName(npubOf(pubkey)) !== null && (
        <p class="soft">
          <bdi>{knownName(npubOf(pubkey))}</bdi>
        </p>
      )}
      <Field
        data-begin
        label={t('pin')}
        type="password"
        inputMode="numeric"
        autoComplete="current-password"
        value={pin}
        onText={setPin}
        // A wrong PIN belongs to the field; a failure of the service shows below it.
        error={failure instanceof SignerError ? failureText(failure) : null}
      />
      {failure !== null && !(failure instanceof SignerError) && <Failure cause={failure} />}
      <Button kind="primary" wide type="submit" icon="lock" busy={busy}>
        {t('in.enter')}
      </Button>
      <div>
        <Button kind="quiet" onClick={onForgotten}>
          {t('pin.forgotten')}
        </Button>
      </div>
      <div class="row apart">
        <BackButton onBack={onBack} />
        {!asked && <ForgetKey onDone={onBack} />}
      </div>
    </form>
  )
}

type ForgottenProps = { onBring: () => void; onBack: () => void }

/** The ways back to a key whose PIN is forgotten. */
export function Forgotten({ onBring, onBack }: ForgottenProps) {
  const heading = useArrival()
  return (
    <div class="stack">
      <h2 ref={heading}>{t('pin.forgotten')}</h2>
      <p>{t('forgotten.why')}</p>
      <ul class="stack tight">
        <li>{t('forgotten.second')}</li>
        <li>{t('forgotten.earlier')}</li>
        <li>{t('forgotten.none')}</li>
      </ul>
      <Button kind="primary" wide icon="key" onClick={onBring}>
        {t('forgotten.do')}
      </Button>
      <BackButton onBack={onBack} />
    </div>
  )
}

/** Signing in by a new key, which is stored under a PIN. */
export function NewKey({ enter, onBack }: EnterProps) {
  const heading = useArrival()
  const [name, setName] = useState('')
  const [nameWrong, setNameWrong] = useState<string | null>(null)
  const [pin, setPin] = useState('')
  /** The key that this form made, where signing in by it failed: the next try must not make another. */
  const made = useRef<{ signer: PageSigner; pin: string } | null>(null)
  const { busy, failure, attempt } = useAttempt()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (busy) return
    const wrong = nameError(name)
    setNameWrong(wrong)
    if (wrong !== null) return
    void attempt(async () => {
      const { signer, pin: first } = made.current ?? { signer: await keyBox.create(pin), pin }
      made.current = { signer, pin: first }
      startShop(signer.pubkey, name.trim())
      if (pin !== first) {
        // The person chose another one since.
        await keyBox.changePin(first, pin, signer.pubkey)
        made.current = { signer, pin }
      }
      await enter(signer)
    })
  }
  return (
    <form class="stack" onSubmit={submit}>
      <h2 ref={heading}>{t('in.local')}</h2>
      {/* Before the key is made: in a private window it is lost with the page. */}
      {!keyBox.lasts() && <Notice tone="bad">{t('key.fleeting')}</Notice>}
      <NameField
        data-begin
        value={name}
        onText={(typed) => {
          setNameWrong(null)
          setName(typed)
        }}
        error={nameWrong}
      />
      <PinField
        fresh
        label={t('pin.new')}
        hint={t('pin.hint')}
        value={pin}
        onText={(typed) => {
          setPin(typed)
          // It takes a slow phone seconds, and the person a few to reach the button.
          if (!made.current) keyBox.prepare(typed)
        }}
      />
      {failure !== null && <Failure cause={failure} />}
      {isUnreadable(failure) && <ForgetKey onDone={onBack} />}
      <Button kind="primary" wide type="submit" icon="key" busy={busy}>
        {t('key.make')}
      </Button>
      <BackButton onBack={onBack} />
    </form>
  )
}
