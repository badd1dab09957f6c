import { useEffect, useRef, useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { fetchDelivery, type RelayState } from '../../client/announcement.ts'
import { ApiError } from '../../client/api-error.ts'
import { language } from '../browser/language.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Badge, Notice, type Tone } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { panelWords as t } from '../words/panel.ts'
import { failureText } from '../words/signer.ts'
import { announce, withdraw } from './state.ts'

const relayTones: Record<RelayState['status'], Tone> = {
  pending: 'wait',
  delivered: 'good',
  refused: 'bad',
  expired: 'bad',
}
/** First pause between two looks: a relay that is up takes the event in a moment. */
const lookMs = 1000
/** Longest pause: the outbox retries a relay that is down for days. */
const lookMsMax = 30_000

type Warning = { code: string; message: string }
type Props = {
  /** The id of the current announcement; null where there is none. */
  announced: string | null
  /** Also offers to announce again and to withdraw. */
  manage?: boolean
}

/** Publishes the announcement, and shows its delivery at each relay. */
export function Announcement({ announced, manage = false }: Props) {
  const [warnings, setWarnings] = useState<readonly Warning[]>([])
  const place = useRef<HTMLDivElement>(null)
  const { busy, failure, attempt } = useAttempt()
  const withdrawing = useAttempt()
  const go = () =>
    void attempt(async () => {
      const { warnings: found = [] } = await announce(systemClock())
      setWarnings(found)
      // The button leaves the page and would take the focus with it.
      place.current?.focus({ preventScroll: true })
    })
  const takeBack = () =>
    void withdrawing.attempt(async () => {
      await withdraw()
      setWarnings([])
      say(t('start.announce.withdrawn'))
    })
  // Other programs need https, so on plain http this is a hint and no failure of the person.
  const unusable = failure instanceof ApiError && failure.code === 'announcement-url'
  const wrong = failure ?? withdrawing.failure
  return (
    <div ref={place} tabIndex={-1} class="stack tight">
      {(announced === null || manage) && (
        <div class="row">
          <Button icon="send" busy={busy} onClick={go}>
            {announced === null ? t('start.announce.do') : t('start.announce.again')}
          </Button>
          {announced !== null && (
            <Button kind="quiet" busy={withdrawing.busy} onClick={takeBack}>
              {t('start.announce.withdraw')}
            </Button>
          )}
        </div>
      )}
      {wrong !== null && (
        <Notice tone={unusable ? 'wait' : 'bad'}>
          {unusable ? t('start.announce.https') : failureText(wrong)}
        </Notice>
      )}
      {warnings.length > 0 && (
        <Notice tone="wait">{t('start.announce.warned', { found: said(warnings) })}</Notice>
      )}
      {/* A new announcement is a new event: its delivery begins anew. */}
      {announced !== null && <Delivery key={announced} id={announced} />}
    </div>
  )
}

/** The service has its sentences in Spanish only; an English page shows the code. */
function said(warnings: readonly Warning[]): string {
  return warnings.map(({ code, message }) => (language.value === 'es' ? message : code)).join(' · ')
}

/** The state of an event at each relay, followed until no relay is pending. */
function Delivery({ id }: { id: string }) {
  const [relays, setRelays] = useState<readonly RelayState[]>([])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let gone = false
    const look = async (waitMs: number) => {
      const states = await fetchDelivery(id)
      if (gone) return
      if (states) setRelays(states)
      if (states === null || states.some(({ status }) => status === 'pending')) {
        // Growing pauses: a relay that is down for days must not cost a request a second.
        timer = setTimeout(() => void look(Math.min(waitMs * 1.5, lookMsMax)), waitMs)
      }
    }
    void look(lookMs)
    return () => {
      // An answer under way must not start the timer again.
      gone = true
      clearTimeout(timer)
    }
  }, [])
  return (
    <ul class="relays" aria-live="polite">
      {relays.map(({ url, status, lastError }) => (
        <li key={url} class="row apart">
          {ours(url) ? (
            <span class="small">{t('relay.own')}</span>
          ) : (
            <span class="mono small">{url}</span>
          )}
          <Badge tone={relayTones[status]}>{t(`relay.${status}`)}</Badge>
          {lastError && <span class="soft small">{reason(lastError)}</span>}
        </li>
      ))}
    </ul>
  )
}

/** Whether a URL is the service's own relay. The outbox may know it by a loopback address. */
function ours(url: string): boolean {
  const { host, hostname, port, pathname } = new URL(url)
  const known = host === location.host || /^(0\.0\.0\.0|127\..*|\[::1?\])$/.test(hostname)
  return known && port === location.port && pathname === '/relay'
}

/** The last error in words: a relay's own text, or our sentence where there was no connection. */
function reason(text: string): string {
  return text.startsWith('no connection') ? t('relay.none') : text
}
