import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { ApiError } from '../../client/api-error.ts'
import { fetchMoveFile, takeMoveBack, waitForPlace } from '../../client/move.ts'
import { newMovePassphrase } from '../../client/move-words.ts'
import { createPauses } from '../../client/pause.ts'
import { readPlace } from '../../client/place.ts'
import type { PageSigner } from '../../client/signer.ts'
import { saveFile } from '../browser/clipboard.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Notice } from '../parts/notice.tsx'
import { unsay } from '../parts/toast.tsx'
import { moveWords as t } from '../words/move.ts'
import { MoveWords } from './move-words.tsx'
import { moved } from './moved-state.ts'
import { SignIn } from './sign-in.tsx'
import { session } from './state.ts'

const { pause } = createPauses()

/** The panel of a service that was closed for a move. */
export function Moved() {
  const heading = useArrival()
  const signer = moved.value?.signer ?? session.heldSigner()
  useLayoutEffect(unsay, [])
  return (
    <section class="sheet stack wide not-allowed">
      <h1 ref={heading}>{t('moved.title')}</h1>
      {signer ? (
        <OwnerActions signer={signer} />
      ) : (
        <>
          <p>{t('moved.why')}</p>
          <p>{t('moved.owner')}</p>
          <SignIn
            own
            take={async (given) => {
              moved.value = { words: null, ...moved.peek(), signer: given }
            }}
          />
        </>
      )}
    </section>
  )
}

/** The two actions of the owner: the file again, and the way back. */
function OwnerActions({ signer }: { signer: PageSigner }) {
  const mover = { signer, origin: location.origin }
  const [made] = useState(() => moved.peek()?.words ?? newMovePassphrase())
  const [closed, setClosed] = useState(false)
  const [loaded, setLoaded] = useState(false)
  const [asked, setAsked] = useState(false)
  const closing = useAttempt()
  const { busy, failure, attempt } = useAttempt()
  const wait = () =>
    closing.attempt(async () => {
      await waitForPlace('moved', pause)
      setClosed(true)
    })
  useEffect(() => void wait(), [])
  const download = async () => {
    const file = await fetchMoveFile(mover, made)
    saveFile(`mudanza-cuponera-${new Date().toISOString().slice(0, 10)}.cuponera`, file)
    setLoaded(true)
  }
  const back = async () => {
    try {
      await takeMoveBack(mover)
    } catch (cause) {
      // After a lost answer, the service may be open already.
      if (!(cause instanceof ApiError) || (await readPlace()) !== 'here') throw cause
    }
    await waitForPlace('here', pause)
    location.reload()
  }
  if (!closed) {
    return closing.failure === null ? (
      <Notice tone="wait">{t('moved.closing')}</Notice>
    ) : (
      <>
        <Failure cause={closing.failure} />
        <div>
          <Button onClick={() => void wait()}>{t('moved.retry')}</Button>
        </div>
      </>
    )
  }
  return (
    <>
      <p>{t('moved.closed')}</p>
      <MoveWords words={made} />
      {moved.value?.words !== made && <Notice tone="accent">{t('moved.words.new')}</Notice>}
      {failure !== null && <Failure cause={failure} />}
      <Button
        kind="primary"
        wide
        icon="download"
        busy={busy}
        onClick={() => void attempt(download)}
      >
        {t(loaded ? 'moved.again' : 'moved.download')}
      </Button>
      {loaded && <Notice tone="good">{t('moved.downloaded')}</Notice>}
      <p>{t('moved.steps')}</p>
      <div>
        <Button kind="danger" onClick={() => setAsked(true)}>
          {t('back.title')}
        </Button>
      </div>
      {asked && (
        <Confirm
          title={t('back.title')}
          action={t('back.do')}
          danger
          onClose={() => setAsked(false)}
          onConfirm={back}
        >
          <p>{t('back.why')}</p>
        </Confirm>
      )}
    </>
  )
}
