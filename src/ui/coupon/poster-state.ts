/** The state of a poster's page. */
import { signal } from '@preact/signals'
import { systemClock } from '../../base/clock.ts'
import { ApiError } from '../../client/api-error.ts'
import type { ShownPoster } from '../../client/models.ts'
import { createPauses } from '../../client/pause.ts'
import { fetchPoster, takePath } from '../../client/poster.ts'
import { device } from '../browser/storage.ts'
import { say } from '../parts/toast.tsx'
import { ask, heard, reachable } from '../state/reach.ts'
import { errorText } from '../words/errors.ts'
import { posterWords as t } from '../words/poster.ts'
import { statusNow } from './holdings.ts'
import { createPosterTaker, type PosterTaking } from './poster-taker.ts'
import {
  holdings,
  keep,
  openPoster,
  openTaken,
  posterTakesName,
  posterTakes as takes,
} from './state.ts'

type PosterView =
  | { step: 'looking' }
  | { step: 'shown'; shown: ShownPoster }
  | { step: 'unknown' }
  /** `message`: the sentence of a service that answered with a fault. */
  | { step: 'unreachable'; message: string | null }

const pauses = createPauses()

export const posterView = signal<PosterView>({ step: 'looking' })
/** The take of the poster on the screen; null before one. */
export const posterTaking = signal<PosterTaking | null>(null)

const taker = createPosterTaker({
  ask,
  authorize,
  pause: pauses.pause,
  takes,
  now: systemClock,
  onChange(next) {
    const here = next.poster === openPoster.peek()
    if (next.step === 'taken' && here) {
      openTaken(next.held)
    } else if (next.step === 'taken') {
      // An earlier page left it open.
      if (!holdings.find(next.held.nonce)) keep(next.held)
      say(t('taken.elsewhere'))
    } else if (here) {
      posterTaking.value = next
      // The page shows why: the state of the poster has changed.
      if (next.step === 'refused') void lookAtPoster(next.poster)
    }
  },
})

/** Loaded on demand: it brings the code of signatures. */
async function authorize(poster: string): Promise<string | null> {
  try {
    const [{ openBrowserKey }, { signRequest }] = await Promise.all([
      import('../../client/browser-key.ts'),
      import('../../client/proof.ts'),
    ])
    const url = `${location.origin}${takePath(poster)}`
    return await signRequest(openBrowserKey(device), { url, method: 'POST', body: null })
  } catch (cause) {
    // The code does not load without a connection.
    if (cause instanceof TypeError) return null
    throw cause
  }
}

/** Show a poster, or the coupon that this browser took from it and can still use. */
export function showPoster(id: string): void {
  posterTaking.value = null
  posterView.value = { step: 'looking' }
  const before = takes.find(id)
  const held = before?.nonce ? holdings.find(before.nonce) : null
  if (held && statusNow(held, systemClock()) === 'minted') {
    openTaken(held)
    return
  }
  void lookAtPoster(id)
  if (before && before.nonce === null) void taker.take(id)
}

export async function lookAtPoster(id: string): Promise<void> {
  const next = await lookUp(id)
  if (openPoster.peek() === id) posterView.value = next
}

async function lookUp(id: string): Promise<PosterView> {
  try {
    const shown = await fetchPoster(id)
    heard('')
    return { step: 'shown', shown }
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    if (!cause.reached) reachable.value = false
    else heard(cause.code)
    if (cause.code === 'poster-unknown') return { step: 'unknown' }
    const ours = cause.code !== 'unreachable' && cause.code !== 'answer-invalid'
    return { step: 'unreachable', message: ours ? errorText(cause) : null }
  }
}

/** Whether this browser took a coupon from the poster before. */
export function hasTaken(id: string): boolean {
  return typeof takes.find(id)?.nonce === 'string'
}

/** Whether a take survives this page. */
export function takesLast(): boolean {
  return device.lasts(posterTakesName)
}

/** Take a coupon from the poster on the screen; `another`: one more than before. */
export function takeCoupon(another = false): void {
  const id = openPoster.peek()
  if (id !== null) void taker.take(id, another)
}

/** Retry an open take now. */
export function takeNow(): void {
  pauses.wake()
}

/** Finish takes that an earlier page left open. Look at the poster again when the service or the page is back. */
export function watchPosters(): void {
  void taker.resume()
  const lookAgain = () => {
    const id = openPoster.peek()
    if (id !== null && !document.hidden && posterTaking.peek()?.step !== 'taking') {
      void lookAtPoster(id)
    }
  }
  document.addEventListener('visibilitychange', lookAgain)
  let there = reachable.peek()
  reachable.subscribe((now) => {
    const back = now && !there
    there = now
    if (!back) return
    takeNow()
    lookAgain()
  })
}
