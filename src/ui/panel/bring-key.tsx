import { useState } from 'preact/hooks'
import { findKey, keyTextCharsMax, keyTrouble } from '../../client/key-text.ts'
import { isUnreadable } from '../../client/signer.ts'
import { readPhoto } from '../browser/qr-reader.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field } from '../parts/field.tsx'
import { FileButton } from '../parts/file-button.tsx'
import { Notice } from '../parts/notice.tsx'
import { HiddenField, PinField } from '../parts/pin-field.tsx'
import { CameraReader } from '../parts/qr-reader.tsx'
import { keyWords as t } from '../words/key.ts'
import { BackButton, type EnterProps } from './enter.tsx'
import { ForgetKey } from './forget-key.tsx'
import { forgetMade } from './own-shop.ts'
import { keyBox } from './state.ts'

type FoundWords = 'key.file.found' | 'key.file.open' | 'key.file.none' | 'key.qr.none'

/** The text in a backup file, or in the QR of a photo. */
async function readKeyFile(file: File): Promise<string> {
  if (file.type.startsWith('image/')) return (await readPhoto(file)) ?? ''
  return file.slice(0, keyTextCharsMax).text()
}

type BringProps = EnterProps & { only?: string | undefined }

/** Signing in by a key or a copy that the person has, which is then stored under a PIN. */
export function BringKey({ only, enter, onBack }: BringProps) {
  const heading = useArrival()
  const [text, setText] = useState('')
  const [password, setPassword] = useState('')
  const [wrongWord, setWrongWord] = useState<string | null>(null)
  const [pin, setPin] = useState('')
  /** Outcome of the file or the QR that was read last. */
  const [found, setFound] = useState<FoundWords | null>(null)
  const { busy, failure, attempt, dismiss } = useAttempt()
  const encrypted = findKey(text)?.form === 'ncryptsec'
  // A password of letters opens a second copy, or the key of another program: the device gets a PIN of its own.
  const choosesPin = !encrypted || /\D/.test(password)
  const take = (content: string, none: FoundWords = 'key.file.none') => {
    const key = findKey(content)
    if (key) {
      setText(key.text)
      dismiss()
    }
    const words = key?.form === 'ncryptsec' ? 'key.file.found' : 'key.file.open'
    setFound(key ? words : none)
  }
  // The part that reads photos loads with the first one, which fails without a connection.
  const read = (file: File) => {
    if (busy) return
    setFound(null)
    void attempt(async () => take(await readKeyFile(file)))
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (busy) return
    void attempt(async () => {
      const opening =
        encrypted && choosesPin ? await import('../../client/recovery-words.ts') : null
      const wrong = opening?.mistypedWord(password) ?? null
      setWrongWord(wrong)
      // Sent again, it is tried: a password of one's own may look like such words.
      if (wrong !== null && wrong !== wrongWord) return
      const chosen = choosesPin ? pin : password
      const opens = opening?.passwordOf(password) ?? password
      const signer = await keyBox.bring(text, { password: opens, pin: chosen, only })
      forgetMade()
      await enter(signer)
    })
  }
  return (
    <form
      class="stack"
      onSubmit={submit}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        const [file] = event.dataTransfer?.files ?? []
        if (!file) return
        // Else the browser leaves the page for the file.
        event.preventDefault()
        read(file)
      }}
    >
      <h2 ref={heading}>{t('key.bring')}</h2>
      {!keyBox.lasts() && <Notice tone="bad">{t('key.fleeting')}</Notice>}
      <Field
        label={t('key.text')}
        hint={t('key.text.hint')}
        type="password"
        autoComplete="off"
        value={text}
        onText={(typed) => {
          setText(typed)
          setFound(null)
          dismiss()
        }}
        // The field would join the lines, by which a key that a mail broke in two is found.
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? ''
          const key = findKey(pasted)
          if (!key && keyTrouble(pasted) === 'key-invalid') return
          event.preventDefault()
          setText(key?.text ?? pasted)
          setFound(null)
          dismiss()
        }}
      />
      <CopyReaders onFile={read} onCode={take} />
      {found !== null && (
        <Notice tone={found.endsWith('.none') ? 'bad' : 'good'}>{t(found)}</Notice>
      )}
      {encrypted && (
        <HiddenField
          label={t('key.password')}
          hint={t('key.password.hint')}
          error={wrongWord === null ? null : t('key.word.wrong', { word: wrongWord })}
          value={password}
          onText={setPassword}
        />
      )}
      {choosesPin && (
        <PinField
          fresh
          label={encrypted ? t('key.new-pin') : t('pin.new')}
          hint={t('pin.hint')}
          value={pin}
          onText={setPin}
        />
      )}
      {failure !== null && <Failure cause={failure} />}
      {isUnreadable(failure) && <ForgetKey onDone={onBack} />}
      <Button kind="primary" wide type="submit" icon="key" busy={busy}>
        {t('in.enter')}
      </Button>
      <BackButton onBack={onBack} />
    </form>
  )
}

type ReadersProps = {
  onFile: (file: File) => void
  onCode: (text: string, none: FoundWords) => void
}

/** A file, a photo, or the camera where the browser allows it. */
function CopyReaders({ onFile, onCode }: ReadersProps) {
  return (
    <div class="stack tight">
      <CameraReader onRead={(code) => onCode(code, 'key.qr.none')}>
        <FileButton
          icon="image"
          label={t('key.file')}
          accept=".txt,text/plain,image/*"
          onFile={onFile}
        />
      </CameraReader>
    </div>
  )
}
