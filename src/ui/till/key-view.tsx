import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isUnreadable, type PageSigner } from '../../client/signer.ts'
import { hasExtension, openExtension } from '../../client/signer-extension.ts'
import { pinCharsMin } from '../../client/signer-local.ts'
import { type Attempt, useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Notice } from '../parts/notice.tsx'
import { PinField } from '../parts/pin-field.tsx'
import { tillWords as t } from '../words/till.ts'
import { ForgetKey } from './forget-key.tsx'
import { hasKey, keyBox, session, signOut } from './issue-state.ts'

/** Signing in at a till: its own key under a PIN, or any other signer. */
export function KeyView() {
  // Here and not in the form: a new key that fails to sign in replaces the form, which would lose the failure.
  const { failure, ...attempt } = useAttempt()
  return (
    <div class="stack wide">
      <div class="stack tight">
        <h1>{t('key.title')}</h1>
        <p class="soft">{t('key.lead')}</p>
      </div>
      <Fleeting />
      {hasKey.value ? <Unlock {...attempt} /> : <Create {...attempt} />}
      {failure !== null && <Failure cause={failure} />}
      {isUnreadable(failure) && <ForgetKey />}
      {hasExtension() && <Extension />}
    </div>
  )
}

/** The form for the key of this till, beside a coupon that needs it. `onOpen`: called with a key that was there before. */
export function KeyBeside({ onOpen }: { onOpen: () => void }) {
  const { failure, ...attempt } = useAttempt()
  const [found] = useState(hasKey.peek())
  return (
    <div class="key-beside stack">
      {found ? <Unlock {...attempt} onOpen={onOpen} /> : <Create {...attempt} />}
      {failure !== null && <Failure cause={failure} />}
    </div>
  )
}

/** A warning where the browser stores nothing: closing the page loses a key made here. */
export function Fleeting() {
  return keyBox.lasts() ? null : <Notice tone="bad">{t('key.fleeting')}</Notice>
}

/** Signing in by a browser extension. The policy of the till allows no relay, so it has no remote signer. */
function Extension() {
  const { failure, attempt } = useAttempt()
  const signIn = () => void attempt(async () => session.signIn(await openExtension()))
  return (
    <div class="stack">
      {failure !== null && <Failure cause={failure} />}
      <Button icon="puzzle" wide onClick={signIn}>
        {t('key.extension')}
      </Button>
    </div>
  )
}

/** Asks for the PIN again when the session of an open till has ended. */
export function AskPin() {
  if (session.asking.value?.kind !== 'local') return null
  return (
    <Dialog title={t('key.unlock')} onClose={signOut}>
      <UnlockAgain />
    </Dialog>
  )
}

function UnlockAgain() {
  const { failure, ...attempt } = useAttempt()
  return (
    <div class="stack">
      <Unlock {...attempt} />
      {failure !== null && <Failure cause={failure} />}
    </div>
  )
}

type AttemptProps = Pick<Attempt, 'busy' | 'attempt'>

function Create(attempt: AttemptProps) {
  const [pin, setPin] = useState('')
  return (
    <KeyForm
      action={t('key.create')}
      ready={pin.length >= pinCharsMin}
      {...attempt}
      open={() => keyBox.create(pin)}
    >
      <PinField
        fresh
        label={t('key.pin')}
        value={pin}
        onText={(typed) => {
          setPin(typed)
          keyBox.prepare(typed)
        }}
      />
      <Notice tone="wait" icon="key">
        {t('key.pin.note')}
      </Notice>
    </KeyForm>
  )
}

function Unlock({ onOpen, ...attempt }: AttemptProps & { onOpen?: () => void }) {
  const [pin, setPin] = useState('')
  return (
    <KeyForm
      action={t('key.unlock')}
      ready={pin.length >= pinCharsMin}
      {...attempt}
      open={() => keyBox.unlock(pin)}
      onOpen={onOpen}
    >
      <PinField data-begin label={t('key.pin')} value={pin} onText={setPin} />
    </KeyForm>
  )
}

type FormProps = AttemptProps & {
  action: string
  ready: boolean
  open: () => Promise<PageSigner>
  onOpen?: (() => void) | undefined
  children: ComponentChildren
}

function KeyForm({ action, ready, busy, attempt, open, onOpen, children }: FormProps) {
  const submit = () =>
    void attempt(async () => {
      const signer = await open()
      hasKey.value = true
      await session.signIn(signer)
      onOpen?.()
    })
  return (
    <form
      class="sheet stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (ready && !busy) submit()
      }}
    >
      {children}
      <Button type="submit" kind="primary" big icon="key" busy={busy} disabled={!ready}>
        {busy ? t('key.working') : action}
      </Button>
    </form>
  )
}
