import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'
import { moved } from '../state/reach.ts'
import type { Translate } from '../words/words.ts'

type Props = {
  /** Attempts without an answer. */
  lost: number
  /** Seconds to wait, where the service refused because of its rate limit. */
  retryAfter: number | null
  t: Translate<'take.working' | 'take.lost' | 'take.often' | 'take.moved' | 'again'>
  onAgain: () => void
}

/** A request that is sent again until its answer is there. */
export function Retrying({ lost, retryAfter, t, onAgain }: Props) {
  const told = () => {
    if (moved.value) return t('take.moved')
    if (retryAfter !== null) return t('take.often', { n: retryAfter })
    return t(lost > 0 ? 'take.lost' : 'take.working')
  }
  return (
    <Notice tone="wait" icon={lost > 0 ? 'warning' : 'clock'}>
      <div class="stack">
        <p>{told()}</p>
        {lost > 0 && retryAfter === null && <Button onClick={onAgain}>{t('again')}</Button>}
      </div>
    </Notice>
  )
}

/** The place of such a request. It takes the focus of the button that was pressed, which has left the page. */
export function useProgressFocus(step: string | undefined) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (step) box.current?.focus()
  }, [step])
  return box
}
