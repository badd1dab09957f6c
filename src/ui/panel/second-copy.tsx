import { useState } from 'preact/hooks'
import { copyPasswordTrouble } from '../../client/copy-password.ts'
import { SignerError } from '../../client/signer.ts'
import { saveFile } from '../browser/clipboard.ts'
import { device } from '../browser/storage.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { HiddenField, PinField } from '../parts/pin-field.tsx'
import { keyWords as t } from '../words/key.ts'
import { failureText } from '../words/signer.ts'
import { secondCopyText } from './backup-text.ts'
import { CopyShown } from './copy-shown.tsx'
import { keyBox } from './state.ts'

/** Place of the key whose second copy was saved, on this device. */
const place = 'second-copy'
/** Place of the key whose reminder was put away. */
const putAway = 'second-copy:later'

/** Offers a copy that opens without the PIN. */
export function SecondCopy({ pubkey }: { pubkey: string }) {
  const [open, setOpen] = useState(false)
  const has = device.read(place) === pubkey
  return (
    <div class="stack tight">
      <p>{t('second.why')}</p>
      {has && (
        <p class="with-icon small" role="status">
          <Icon name="check" />
          <span>{t('second.has')}</span>
        </p>
      )}
      <div>
        <Button icon="lock" onClick={() => setOpen(true)}>
          {t(has ? 'second.again' : 'second.make')}
        </Button>
      </div>
      {open && <SecondCopyDialog pubkey={pubkey} onClose={() => setOpen(false)} />}
    </div>
  )
}

/** Whether a key has no second copy here, and the person did not put the reminder away. */
export function wantsSecondCopy(pubkey: string): boolean {
  return device.read(place) !== pubkey && device.read(putAway) !== pubkey
}

/** Offers the second copy on the first page, until it is made or put away. */
export function SecondCopyReminder({ pubkey, onLater }: { pubkey: string; onLater: () => void }) {
  return (
    <section class="sheet stack" aria-label={t('second.title')}>
      <h2>{t('second.title')}</h2>
      <SecondCopy pubkey={pubkey} />
      <div>
        <Button
          kind="quiet"
          onClick={() => {
            device.write(putAway, pubkey)
            onLater()
          }}
        >
          {t('second.later')}
        </Button>
      </div>
    </section>
  )
}

type Copied = { ncryptsec: string; words: readonly string[] | null }
type DialogProps = { pubkey: string; onClose: () => void }

function SecondCopyDialog({ pubkey, onClose }: DialogProps) {
  const [copied, setCopied] = useState<Copied | null>(null)
  const [saved, setSaved] = useState(false)
  const [busy, setBusy] = useState(false)
  /** The person tried to close before the copy was saved. */
  const [warned, setWarned] = useState(false)
  const close = () => {
    if (busy) return
    if (copied && !saved && !warned) setWarned(true)
    else onClose()
  }
  const save = (made: Copied) => {
    const text = secondCopyText(pubkey, made.ncryptsec, made.words !== null)
    saveFile('cuponera-segunda-copia.txt', new Blob([text], { type: 'text/plain' }))
    device.write(place, pubkey)
    setSaved(true)
    setWarned(false)
  }
  return (
    <Dialog title={t('second.title')} onClose={close}>
      {copied ? (
        <div class="stack">
          <Opening words={copied.words} />
          {warned && <Notice tone="bad">{t('second.unsaved')}</Notice>}
          <Button kind="primary" wide icon="download" onClick={() => save(copied)}>
            {t('second.save')}
          </Button>
          <CopyShown text={copied.ncryptsec} />
          <Button wide onClick={close}>
            {t('second.done')}
          </Button>
        </div>
      ) : (
        <CopyForm pubkey={pubkey} onBusy={setBusy} onCopied={setCopied} />
      )}
    </Dialog>
  )
}

/** The words that open the copy, or the reminder of the person's own password. */
function Opening({ words }: Pick<Copied, 'words'>) {
  if (!words) return <p>{t('second.password.keep')}</p>
  return (
    <div class="stack tight">
      <p>{t('second.words.keep')}</p>
      <ol class="recovery-words">
        {words.map((word) => (
          <li key={word}>{word}</li>
        ))}
      </ol>
    </div>
  )
}

type FormProps = {
  pubkey: string
  onBusy: (busy: boolean) => void
  onCopied: (copied: Copied) => void
}

function CopyForm({ pubkey, onBusy, onCopied }: FormProps) {
  const [way, setWay] = useState<'words' | 'password'>('words')
  const [password, setPassword] = useState('')
  const [weak, setWeak] = useState<'short' | 'simple' | null>(null)
  const [pin, setPin] = useState('')
  const { busy, failure, attempt } = useAttempt()
  const make = async () => {
    const { newWords, passwordOf } = await import('../../client/recovery-words.ts')
    const words = way === 'words' ? newWords() : null
    const opens = passwordOf(words?.join(' ') ?? password)
    onCopied({ ncryptsec: await keyBox.copy(pin, opens, pubkey), words })
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const trouble = way === 'password' ? copyPasswordTrouble(password) : null
    setWeak(trouble)
    if (trouble !== null || busy) return
    onBusy(true)
    void attempt(make).then(() => onBusy(false))
  }
  const ofPin =
    failure instanceof SignerError && ['pin-wrong', 'pin-wait'].includes(failure.code)
      ? failureText(failure)
      : null
  return (
    <form class="stack" onSubmit={submit}>
      <p>{t('second.how')}</p>
      <Select
        label={t('second.way')}
        value={way}
        options={[
          ['words', t('second.way.words')],
          ['password', t('second.way.password')],
        ]}
        onChoose={setWay}
      />
      {way === 'password' && (
        <HiddenField
          fresh
          label={t('second.password')}
          hint={t('second.password.hint')}
          error={weak && t(`second.password.${weak}`)}
          value={password}
          onText={setPassword}
        />
      )}
      <PinField label={t('pin.old')} value={pin} onText={setPin} error={ofPin} />
      {failure !== null && ofPin === null && <Failure cause={failure} />}
      <Button kind="primary" wide type="submit" icon="lock" busy={busy}>
        {t('second.make')}
      </Button>
    </form>
  )
}
