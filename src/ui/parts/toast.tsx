import { signal } from '@preact/signals'
import { Icon } from './icon.tsx'
import type { Tone } from './notice.tsx'

type Toast = { id: number; text: string; tone: Tone }

const toasts = signal<readonly Toast[]>([])
const toastMs = 6000
const toastsMax = 3
let last = 0

/** Say a sentence in passing: shown for a while, and read out. */
export function say(text: string, tone: Tone = 'good'): void {
  const id = ++last
  toasts.value = [...toasts.value, { id, text, tone }].slice(-toastsMax)
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id)
  }, toastMs)
}

/** Where they show; once on every page. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast tone-${tone}`}>
          <Icon name={tone === 'bad' ? 'warning' : tone === 'good' ? 'check' : 'info'} />
          <span>{text}</span>
        </div>
      ))}
    </div>
  )
}
