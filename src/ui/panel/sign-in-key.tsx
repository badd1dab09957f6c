import { useRef, useState } from 'preact/hooks'
import { findKey, keyTextCharsMax } from '../../client/key-text.ts'
import { type PageSigner, SignerError } from '../../client/signer.ts'
import { npubOf } from '../../nostr/keys.ts'
import { readPhoto } from '../browser/qr-reader.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { FileButton } from '../parts/file-button.tsx'
import { Notice } from '../parts/notice.tsx'
import { PinField } from '../parts/pin-field.tsx'
import { knownName } from '../state/merchant-names.ts'
import { panelWords as t } from '../words/panel.ts'
import { failureText } from '../words/signer.ts'
import { BackButton, type EnterProps } from './enter.tsx'
import { forgetMade, startShop } from './own-shop.ts'
import { NameField, nameError } from './shop-form.tsx'
import { keyBox } from './state.ts'

type UnlockProps = EnterProps & {
  pubkey: string
  /** Asked during a request: forgetting the key is not offered then. */
  asked: boolean
}

/** Signing in by the key of this device and its PIN. */
export function Unlock({ pubkey, asked, enter, onBack }: UnlockProps) {
  const [pin, setPin] = useState('')
  const [forgetting, setForgetting] = useState(false)
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
      <div class="row apart">
        <BackButton onBack={onBack} />
        {!asked && (
          <Button kind="quiet" onClick={() => setForgetting(true)}>
            {t('key.forget')}
          </Button>
        )}
      </div>
      {forgetting && (
        <Confirm
          title={t('key.forget.title')}
          action={t('key.forget')}
          danger
          onClose={() => setForgetting(false)}
          onConfirm={async () => {
            // The key is gone for ever where no backup was made, so this asks first.
            keyBox.remove()
            setForgetting(false)
            onBack()
          }}
        >
          <p>{t('key.forget.why')}</p>
        </Confirm>
      )}
    </form>
  )
}

type FileWords = 'key.file.found' | 'key.file.open' | 'key.file.none'

/** The text in a backup file, or in the QR of a photo. */
async function readKeyFile(file: File): Promise<string> {
  if (file.type.startsWith('image/')) return (await readPhoto(file)) ?? ''
  return file.slice(0, keyTextCharsMax).text()
}

type NewKeyProps = EnterProps & { bring?: boolean; only?: string | undefined }

/** Signing in by a new key, or by one that the person has. Both are stored under a PIN. */
export function NewKey({ bring = false, only, enter, onBack }: NewKeyProps) {
  const heading = useArrival()
  const [name, setName] = useState('')
  const [nameWrong, setNameWrong] = useState<string | null>(null)
  const [text, setText] = useState('')
  const [pin, setPin] = useState('')
  /** Outcome of the file that was opened last. */
  const [file, setFile] = useState<FileWords | null>(null)
  /** The key that this form made, where signing in by it failed: the next try must not make another. */
  const made = useRef<{ signer: PageSigner; pin: string } | null>(null)
  const { busy, failure, attempt } = useAttempt()
  // An encrypted key has its password already, so there is no new one to choose.
  const encrypted = bring && findKey(text)?.form === 'ncryptsec'
  const read = async (picked: File) => {
    const content = await readKeyFile(picked)
    const key = findKey(content)
    if (key) setText(key.text)
    const encrypted = key?.form === 'ncryptsec'
    setFile(key ? (encrypted ? 'key.file.found' : 'key.file.open') : 'key.file.none')
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (busy) return
    const wrong = bring ? null : nameError(name)
    setNameWrong(wrong)
    if (wrong !== null) return
    void attempt(async () => {
      if (bring) {
        const brought = await keyBox.bring(text, pin, only)
        forgetMade()
        return enter(brought)
      }
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
    <form
      class="stack"
      onSubmit={submit}
      {...(bring && {
        onDragOver: (event: DragEvent) => event.preventDefault(),
        onDrop: (event: DragEvent) => {
          const [file] = event.dataTransfer?.files ?? []
          if (!file) return
          // Else the browser leaves the page for the file.
          event.preventDefault()
          void read(file)
        },
      })}
    >
      <h2 ref={heading}>{bring ? t('key.bring') : t('in.local')}</h2>
      {/* Before the key is made: in a private window it is lost with the page. */}
      {!keyBox.lasts() && <Notice tone="bad">{t('key.fleeting')}</Notice>}
      {!bring && (
        <NameField
          value={name}
          onText={(typed) => {
            setNameWrong(null)
            setName(typed)
          }}
          error={nameWrong}
        />
      )}
      {bring && (
        <>
          {/* Several lines: a key that a mail broke in two is found by its line breaks. */}
          <TextArea
            veiled
            label={t('key.text')}
            hint={t('key.text.hint')}
            autoComplete="off"
            spellcheck={false}
            value={text}
            onText={setText}
          />
          <div class="actions">
            <FileButton
              icon="image"
              label={t('key.file')}
              accept=".txt,text/plain,image/*"
              onFile={(picked) => void read(picked)}
            />
          </div>
          {file !== null && (
            <Notice tone={file === 'key.file.none' ? 'bad' : 'good'}>{t(file)}</Notice>
          )}
        </>
      )}
      {encrypted ? (
        <Field
          label={t('pin')}
          hint={t('pin.hint')}
          // Other programs write keys under passwords of letters.
          type="password"
          autoComplete="current-password"
          value={pin}
          onText={setPin}
        />
      ) : (
        <PinField
          fresh
          label={t('pin.new')}
          hint={t('pin.hint')}
          value={pin}
          onText={(typed) => {
            setPin(typed)
            // It takes a slow phone seconds, and the person a few to reach the button.
            if (!bring && !made.current) keyBox.prepare(typed)
          }}
        />
      )}
      {failure !== null && <Failure cause={failure} />}
      <Button kind="primary" wide type="submit" icon="key" busy={busy}>
        {bring ? t('in.enter') : t('key.make')}
      </Button>
      <BackButton onBack={onBack} />
    </form>
  )
}
