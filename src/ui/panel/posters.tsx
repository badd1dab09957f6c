import { useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import type { Definition, Poster } from '../../client/models.ts'
import { changePoster, createPoster, deletePoster, listPosters } from '../../client/posters.ts'
import { copyText } from '../browser/clipboard.ts'
import { linkReach, posterLink } from '../browser/share.ts'
import { WifiBox } from '../hand/wifi-box.tsx'
import { wifiForPrint } from '../hand/wifi-state.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Badge, Notice, type Tone } from '../parts/notice.tsx'
import { PosterRoom, printPoster } from '../parts/print-poster.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { say } from '../parts/toast.tsx'
import { momentAfter } from '../words/format.ts'
import { postersWords as t } from '../words/posters.ts'
import { failureText } from '../words/signer.ts'
import { ownLogo, ownName } from './own-shop.ts'
import { stateOf } from './poster-draft.ts'
import { PosterForm } from './poster-form.tsx'
import { useReload } from './reload.ts'
import { session } from './state.ts'

const tones: Record<ReturnType<typeof stateOf>, Tone> = {
  open: 'good',
  paused: 'wait',
  'not-started': 'wait',
  archived: 'idle',
  expired: 'idle',
  ended: 'idle',
  exhausted: 'idle',
  'today-exhausted': 'wait',
}

type Editing = { poster: Poster | null } | null

/** The posters of a coupon: what was taken, their limits, and their paper. */
export function Posters({ coupon }: { coupon: Definition }) {
  const [posters, setPosters] = useState<readonly Poster[] | null>(null)
  const [editing, setEditing] = useState<Editing>(null)
  const failure = useReload(coupon.id, async () => {
    const all = await listPosters(session)
    return () => setPosters(all.filter(({ couponId }) => couponId === coupon.id))
  })
  const show = (changed: Poster) => {
    const others = posters ?? []
    const known = others.some(({ id }) => id === changed.id)
    setPosters(
      known ? others.map((one) => (one.id === changed.id ? changed : one)) : [changed, ...others],
    )
  }
  if (posters === null) {
    return failure === null ? (
      <p class="soft">{t('loading')}</p>
    ) : (
      <Notice tone="bad">{failureText(failure)}</Notice>
    )
  }
  const reach = linkReach()
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setEditing({ poster: null })}>
      {t('new')}
    </Button>
  )
  return (
    <div class="stack">
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {posters.length === 0 ? (
        <Empty icon="qr" title={t('empty.title')}>
          <p>{t('lead')}</p>
          {create}
        </Empty>
      ) : (
        <>
          <p>{t('lead')}</p>
          <Notice tone="idle">{t('honest')}</Notice>
          {reach !== 'public' && <Notice tone="wait">{t(`reach.${reach}`)}</Notice>}
          <WifiBox />
          <div>{create}</div>
          {posters.map((poster) => (
            <Hung
              key={poster.id}
              poster={poster}
              coupon={coupon}
              onChanged={show}
              onEdit={() => setEditing({ poster })}
              onGone={() => setPosters(posters.filter(({ id }) => id !== poster.id))}
            />
          ))}
        </>
      )}
      <PosterRoom />
      {editing && (
        <PosterForm
          poster={editing.poster}
          onClose={() => setEditing(null)}
          onSave={async (limits) => {
            const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
            const { poster } = editing
            const fields = { couponId: coupon.id, timeZone, ...limits }
            show(
              poster
                ? await changePoster(session, poster.id, limits)
                : await createPoster(session, fields),
            )
            setEditing(null)
            if (poster) say(t('saved'))
          }}
        />
      )}
    </div>
  )
}

type HungProps = {
  poster: Poster
  coupon: Definition
  onChanged: (poster: Poster) => void
  onEdit: () => void
  onGone: () => void
}

/** One poster: its code, its counters and its actions. */
function Hung({ poster, coupon, onChanged, onEdit, onGone }: HungProps) {
  const [deleting, setDeleting] = useState(false)
  const { busy, failure, attempt } = useAttempt()
  const state = stateOf(poster, coupon, systemClock())
  const { id, label, paused } = poster
  const copy = async () => {
    const copied = await copyText(posterLink(id))
    say(t(copied ? 'copied' : 'uncopied'), copied ? 'good' : 'wait')
  }
  const print = (format: 'a4' | 'a5') =>
    void printPoster({
      format,
      poster,
      coupon,
      shop: ownName(),
      logo: ownLogo(),
      wifi: wifiForPrint(),
    })
  return (
    <section class="sheet poster" aria-label={label ?? t('name')}>
      <div class="qr-box small-qr">
        <QrCode text={posterLink(id)} label={t('qr')} />
      </div>
      <div class="stack tight">
        <div class="row apart">
          <h2>{label ?? t('name')}</h2>
          <Badge tone={tones[state]}>{t(`state.${state}`)}</Badge>
        </div>
        <Counters poster={poster} />
        <div class="actions">
          <Button icon="print" onClick={() => print('a4')}>
            {t('print.a4')}
          </Button>
          <Button icon="print" onClick={() => print('a5')}>
            {t('print.a5')}
          </Button>
          <Button icon="link" onClick={() => void copy()}>
            {t('link')}
          </Button>
          {tones[state] !== 'idle' && (
            <Button
              icon={paused ? 'next' : 'stop'}
              busy={busy}
              onClick={() =>
                void attempt(async () =>
                  onChanged(await changePoster(session, id, { paused: !paused })),
                )
              }
            >
              {t(paused ? 'resume' : 'pause')}
            </Button>
          )}
          <Button icon="edit" onClick={onEdit}>
            {t('edit')}
          </Button>
          <Button kind="quiet" icon="trash" onClick={() => setDeleting(true)}>
            {t('delete')}
          </Button>
        </div>
        {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      </div>
      {deleting && (
        <Confirm
          title={t('delete.title')}
          action={t('delete')}
          danger
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await deletePoster(session, id)
            say(t('delete.done'))
            onGone()
          }}
        >
          <p>{t('delete.why')}</p>
        </Confirm>
      )}
    </section>
  )
}

function Counters({ poster }: { poster: Poster }) {
  const { taken, takenToday, total, perDay, perPerson, startsAt, endsAt } = poster
  const lines = [
    // Another program may set a total below the number that was taken.
    total === null || total < taken
      ? t('taken', { n: taken })
      : t('taken.of', { n: taken, all: total }),
    perDay === null ? t('today', { n: takenToday }) : t('today.of', { n: takenToday, all: perDay }),
    t('person', { n: perPerson }),
    ...(startsAt === null ? [] : [t('from', { when: momentAfter(startsAt) })]),
    ...(endsAt === null ? [] : [t('until', { when: momentAfter(endsAt) })]),
  ]
  return <p class="soft">{lines.join(' · ')}</p>
}
