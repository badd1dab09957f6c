import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../client/api-error.ts'
import { beginMove } from '../../client/move.ts'
import { newMovePassphrase } from '../../client/move-words.ts'
import { readPlace } from '../../client/place.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field } from '../parts/field.tsx'
import { moveWords as t } from '../words/move.ts'
import { MoveWords } from './move-words.tsx'
import { moved } from './moved-state.ts'
import { admission, loadRoster } from './roster.ts'
import { overview, session } from './state.ts'

type Props = { onBackup: (() => void) | null }

/** The way of the shop out of this computer, for the key that runs the service. Others see nothing. */
export function MoveOut({ onBackup }: Props) {
  const [mine, setMine] = useState(false)
  const [open, setOpen] = useState(false)
  const load = async () => setMine(await mayMove())
  useEffect(() => void load(), [])
  if (!mine) return null
  return (
    <section class="stack tight" aria-label={t('out.title')}>
      <h2>{t('out.title')}</h2>
      <p>{t('out.here')}</p>
      <p>{t('out.file')}</p>
      <p>{t('out.key')}</p>
      <div class="row">
        {onBackup && (
          <Button icon="key" onClick={onBackup}>
            {t('out.backup')}
          </Button>
        )}
        <Button onClick={() => setOpen(true)}>{t('out.start')}</Button>
      </div>
      {open && <MoveDialog onClose={() => setOpen(false)} />}
    </section>
  )
}

/** As the service decides it: its first owner, or where only this machine reaches it a key that has coupons. */
async function mayMove(): Promise<boolean> {
  if (admission() === 'private') return (overview.peek()?.coupons ?? []).length > 0
  // The list begins with the newest.
  const owner = (await loadRoster())?.findLast((one) => one.owner)
  return owner !== undefined && owner.pubkey === session.who.value?.pubkey
}

/** First the word that confirms, then the words that open the file, and then the service is closed. */
function MoveDialog({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState<string | null>(null)
  const { busy, failure, attempt } = useAttempt()
  const close = async (made: string) => {
    const signer = await session.needSigner()
    // The service restarts, and the view that follows must not wait for it.
    await import('./moved.tsx')
    try {
      await beginMove({ signer, origin: location.origin })
    } catch (cause) {
      // After a lost answer, the service tells whether it was closed.
      if (!(cause instanceof ApiError) || (await readPlace()) !== 'moved') throw cause
    }
    moved.value = { signer, words: made }
  }
  return (
    <Dialog title={t('out.title')} onClose={() => !busy && onClose()}>
      {words === null ? (
        <ConfirmForm onConfirmed={() => setWords(newMovePassphrase())} />
      ) : (
        <div class="stack">
          <MoveWords words={words} />
          {failure !== null && <Failure cause={failure} />}
          <Button kind="danger" wide busy={busy} onClick={() => void attempt(() => close(words))}>
            {t('out.close')}
          </Button>
        </div>
      )}
    </Dialog>
  )
}

function ConfirmForm({ onConfirmed }: { onConfirmed: () => void }) {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  const word = t('out.confirm.word')
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        const right = typed.trim().toUpperCase() === word
        setWrong(!right)
        if (right) onConfirmed()
      }}
    >
      <p>{t('out.here')}</p>
      <Field
        data-begin
        label={t('out.confirm', { word })}
        autoComplete="off"
        autoCapitalize="characters"
        spellcheck={false}
        value={typed}
        onText={(text) => {
          setWrong(false)
          setTyped(text)
        }}
        error={wrong ? t('out.confirm.wrong', { word }) : null}
      />
      <Button kind="primary" wide type="submit">
        {t('out.next')}
      </Button>
    </form>
  )
}
