import { useEffect, useMemo, useState } from 'preact/hooks'
import { SignerError } from '../../client/signer.ts'
import { copyText } from '../browser/clipboard.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field } from '../parts/field.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { say } from '../parts/toast.tsx'
import { panelWords as t } from '../words/panel.ts'
import { BackButton, type EnterProps } from './enter.tsx'
import { meetingPoint, remoteSigners } from './remote-signers.ts'
import { WaitingNotice } from './remote-wait.tsx'

/**
 * Signing in by a remote signer (NIP-46): it scans our address, or the person pastes its own. Loaded when it is chosen,
 * since it brings a client of relays and a cipher along.
 */
export function RemoteSignIn({ enter, onBack }: EnterProps) {
  // Changeable: the signer must reach it, too, and a phone may not reach this network.
  const [relay, setRelay] = useState(meetingPoint)
  const [bunker, setBunker] = useState('')
  // Counts up for another try: each has its own key and address.
  const [round, setRound] = useState(0)
  const heading = useArrival()
  const paste = useAttempt()
  const scan = useAttempt()
  // An unusable relay gives no QR: a signer could never reach us.
  const usable = /^wss?:\/\/[^\s/]+/.test(relay)
  const abort = useMemo(() => new AbortController(), [relay, round])
  const invitation = useMemo(
    () => (usable ? remoteSigners.invite([relay], abort.signal) : null),
    [relay, round],
  )
  useEffect(() => {
    if (invitation) void scan.attempt(async () => enter(await invitation.signer))
    // Leaving the form or changing the relay ends the subscription.
    return () => abort.abort()
  }, [invitation])

  const connect = (event: SubmitEvent) => {
    event.preventDefault()
    // Two connections at once would show and end each other's waits.
    abort.abort()
    void paste.attempt(async () => enter(await remoteSigners.open(bunker)))
  }
  const failure = paste.failure ?? scan.failure
  // A refusal by the person is final; these two may pass.
  const late = failure instanceof SignerError && ['timeout', 'no-relay'].includes(failure.code)
  return (
    <div class="stack">
      <h2 ref={heading}>{t('in.remote')}</h2>
      {invitation && (
        <div class="stack middle">
          <p>{t('remote.scan')}</p>
          <div class="qr-box">
            <QrCode text={invitation.address} label={t('remote.qr')} />
          </div>
          <Button
            icon="copy"
            onClick={() =>
              void copyText(invitation.address).then((copied) => copied && say(t('copied')))
            }
          >
            {t('remote.copy')}
          </Button>
        </div>
      )}
      <WaitingNotice />
      {failure !== null && (
        <div class="stack tight">
          <Failure cause={failure} />
          {late && (
            <div>
              <Button onClick={() => setRound(round + 1)}>{t('retry')}</Button>
            </div>
          )}
        </div>
      )}
      <form class="stack" onSubmit={connect}>
        {invitation && <p class="soft">{t('remote.paste')}</p>}
        <Field
          label={t('remote.bunker')}
          autoComplete="off"
          spellcheck={false}
          value={bunker}
          onText={setBunker}
        />
        <Button type="submit" icon="link" busy={paste.busy}>
          {t('remote.connect')}
        </Button>
      </form>
      <details open={!usable}>
        <summary>{t('remote.relay')}</summary>
        <Field
          label={t('remote.relay')}
          hint={t('remote.relay.hint')}
          inputMode="url"
          autoComplete="off"
          spellcheck={false}
          value={relay}
          onText={setRelay}
        />
      </details>
      <BackButton onBack={onBack} />
    </div>
  )
}
