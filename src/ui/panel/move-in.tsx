import { useRef, useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { ApiError } from '../../client/api-error.ts'
import { finishArrival, openArrival, sendPieces } from '../../client/move.ts'
import { mistypedMoveWord, movePassphraseOf } from '../../client/move-words.ts'
import { createPauses } from '../../client/pause.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { FileButton } from '../parts/file-button.tsx'
import { Notice } from '../parts/notice.tsx'
import { keyWords } from '../words/key.ts'
import { moveWords as t } from '../words/move.ts'
import { panelWords } from '../words/panel.ts'
import { failureText } from '../words/signer.ts'
import { BackButton } from './enter.tsx'
import { broughtIn } from './moved-state.ts'
import { heldCode } from './setup-code.ts'
import { signOut } from './state.ts'

type Step = 'idle' | 'sending' | 'checking'
/** A file that arrived as a whole, so that other words need no new upload. */
type Arrived = { file: File; ticket: string }
type Props = {
  /** The setup code, where the person gave it before. */
  code?: string
  onBack: () => void
}

const { pause } = createPauses()

/** The way of a shop from another computer into this new service. */
export function MoveIn({ code: given, onBack }: Props) {
  const heading = useArrival()
  const [code, setCode] = useState(given ?? heldCode.value ?? '')
  const [asksCode, setAsksCode] = useState(false)
  const [file, setFile] = useState<File | null>(null)
  const [words, setWords] = useState('')
  const [wrong, setWrong] = useState<Wrong | null>(null)
  const [step, setStep] = useState<Step>('idle')
  const [sent, setSent] = useState(0)
  const arrived = useRef<Arrived | null>(null)
  const { busy, failure, attempt } = useAttempt()
  const send = async (chosen: File) => {
    setSent(0)
    setStep('sending')
    const ticket = await openArrival(code.trim() === '' ? null : code.trim())
    await sendPieces(chosen, { ticket, pause, onSent: setSent })
    arrived.current = { file: chosen, ticket }
    return arrived.current
  }
  const bring = async (chosen: File) => {
    try {
      const before = arrived.current
      const { ticket } = before?.file === chosen ? before : await send(chosen)
      setStep('checking')
      await finishArrival({ ticket, passphrase: movePassphraseOf(words), pause })
    } catch (cause) {
      setStep('idle')
      if (codeOf(cause) !== 'move-passphrase-wrong') arrived.current = null
      if (codeOf(cause) === 'setup-code-wrong') setAsksCode(true)
      throw cause
    }
    // A session of before is none of the service that runs here now, and its setup code is gone.
    broughtIn.value = true
    signOut()
    onBack()
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const found = findWrong(file, words)
    setWrong(found)
    if (found === null && file && !busy) void attempt(() => bring(file))
  }
  const failed = codeOf(failure)
  const ofCode = failed === 'setup-code-wrong' ? failureText(failure) : null
  const ofWords = failed === 'move-passphrase-wrong' ? failureText(failure) : null
  return (
    <form class="stack" onSubmit={submit}>
      <h2 ref={heading}>{t('in.title')}</h2>
      <p>{t('in.why')}</p>
      {asksCode && (
        <Field
          label={panelWords('setup.code')}
          hint={panelWords('setup.code.hint')}
          autoComplete="off"
          autoCapitalize="characters"
          spellcheck={false}
          value={code}
          onText={setCode}
          error={ofCode}
        />
      )}
      <FileButton icon="download" label={t('in.file')} accept="" onFile={setFile} />
      {file && (
        <Notice tone="good">
          <bdi>{file.name}</bdi>
        </Notice>
      )}
      {wrong?.at === 'file' && <Notice tone="bad">{wrong.text}</Notice>}
      <TextArea
        label={t('in.words')}
        hint={t('in.words.hint')}
        value={words}
        onText={(typed) => {
          setWrong(null)
          setWords(typed)
        }}
        error={wrong?.at === 'words' ? wrong.text : ofWords}
      />
      {failure !== null && ofWords === null && ofCode === null && <Failure cause={failure} />}
      {busy && <Progress step={step} sent={sent} all={file?.size ?? 0} />}
      <Button kind="primary" wide type="submit" busy={busy}>
        {t('in.do')}
      </Button>
      {!busy && <BackButton onBack={onBack} />}
    </form>
  )
}

type Wrong = { at: 'file' | 'words'; text: string }

function findWrong(file: File | null, words: string): Wrong | null {
  if (!file) return { at: 'file', text: t('in.file.missing') }
  const word = mistypedMoveWord(words)
  if (word !== null) return { at: 'words', text: keyWords('key.word.wrong', { word }) }
  // The service takes no shorter text. A passphrase of the command line has any number of words.
  if (movePassphraseOf(words).length < clientLimits.movePassphraseCharsMin)
    return { at: 'words', text: t('in.words.wrong') }
  return null
}

function Progress({ step, sent, all }: { step: Step; sent: number; all: number }) {
  if (step === 'checking') return <Notice tone="wait">{t('in.checking')}</Notice>
  return (
    <div class="stack tight">
      <p role="status">{t('in.sending')}</p>
      <progress class="progress" value={sent} max={all} aria-label={t('in.sending')} />
    </div>
  )
}

function codeOf(cause: unknown): string | null {
  return cause instanceof ApiError ? cause.code : null
}
