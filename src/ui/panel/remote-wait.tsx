import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Wait } from '../../client/signer-remote.ts'
import { Notice } from '../parts/notice.tsx'
import { panelWords as t } from '../words/panel.ts'

/** The current wait for a remote signer; null while there is none. `untilMs`: its timeout, for a countdown. */
export const remoteWait = signal<(Wait & { untilMs: number }) | null>(null)

/** The wait for a remote signer, with the seconds until its timeout. */
export function WaitingNotice() {
  const [now, setNow] = useState(Date.now())
  const wait = remoteWait.value
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  if (!wait) return null
  return (
    <Notice tone="wait">
      <p>{t(`wait.${wait.for}`)}</p>
      <p class="small number" aria-live="off">
        {t('wait.left', { n: Math.max(0, Math.ceil((wait.untilMs - now) / 1000)) })}
      </p>
      {wait.url && (
        <a href={wait.url} target="_blank" rel="noreferrer noopener">
          {t('wait.open')}
        </a>
      )}
    </Notice>
  )
}
