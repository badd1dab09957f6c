import { useState } from 'preact/hooks'
import { SignerError } from '../../client/signer.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Notice } from '../parts/notice.tsx'
import { PinField } from '../parts/pin-field.tsx'
import { panelWords as t } from '../words/panel.ts'
import { failureText } from '../words/signer.ts'
import { keyBox } from './state.ts'

type Props = {
  /** The key of the session. */
  pubkey: string
  onChanged: () => void
}

/** Changes the PIN of the key on this device. */
export function ChangePin({ pubkey, onChanged }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <div>
        <Button icon="lock" onClick={() => setOpen(true)}>
          {t('pin.change')}
        </Button>
      </div>
      {open && (
        <ChangeDialog pubkey={pubkey} onClose={() => setOpen(false)} onChanged={onChanged} />
      )}
    </>
  )
}

type DialogProps = Props & { onClose: () => void }

function ChangeDialog({ pubkey, onClose, onChanged }: DialogProps) {
  const [old, setOld] = useState('')
  const [pin, setPin] = useState('')
  const [changed, setChanged] = useState(false)
  const { busy, failure, attempt } = useAttempt()
  if (changed) {
    return (
      <Dialog title={t('pin.change')} onClose={onClose}>
        <div class="stack">
          <Notice tone="good">{t('pin.changed')}</Notice>
          <p>{t('pin.changed.backup')}</p>
          <Button kind="primary" wide onClick={onClose}>
            {t('pin.changed.done')}
          </Button>
        </div>
      </Dialog>
    )
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (busy) return
    void attempt(async () => {
      await keyBox.changePin(old, pin, pubkey)
      onChanged()
      setChanged(true)
    })
  }
  const about = (...codes: readonly SignerError['code'][]) =>
    failure instanceof SignerError && codes.includes(failure.code) ? failureText(failure) : null
  const ofOld = about('pin-wrong', 'pin-wait')
  const ofNew = about('pin-short')
  return (
    // Closed while at work, it would not say whether the PIN changed.
    <Dialog title={t('pin.change')} onClose={() => busy || onClose()}>
      <form class="stack" onSubmit={submit}>
        <PinField data-begin label={t('pin.old')} value={old} onText={setOld} error={ofOld} />
        <PinField
          fresh
          label={t('pin.fresh')}
          hint={t('pin.hint')}
          value={pin}
          onText={setPin}
          error={ofNew}
        />
        {failure !== null && ofOld === null && ofNew === null && <Failure cause={failure} />}
        <Button kind="primary" wide type="submit" icon="lock" busy={busy}>
          {t('pin.change')}
        </Button>
      </form>
    </Dialog>
  )
}
