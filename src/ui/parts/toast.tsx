import { signal } from '@preact/signals'
import { Icon } from './icon.tsx'
import type { Tone } from './notice.tsx'

type Toast = { id: number; text: string; tone: Tone }

const toast = signal<Toast | null>(null)
const toastMs = 4500
let last = 0

/** Say a sentence in passing: shown for a while, and read out. */
export function say(text: string, tone: Tone = 'good'): void {
  const id = ++last
  toast.value = { id, text, tone }
  setTimeout(() => {
    if (toast.peek()?.id === id) toast.value = null
  }, toastMs)
}

/** Where they show, the latest in place of the one before; once on every page. */
export function Toasts() {
  const shown = toast.value
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown && (
        <div key={shown.id} class={`toast tone-${shown.tone}`}>
          <Icon
            name={shown.tone === 'bad' ? 'warning' : shown.tone === 'good' ? 'check' : 'info'}
          />
          <span>{shown.text}</span>
        </div>
      )}
    </div>
  )
}
