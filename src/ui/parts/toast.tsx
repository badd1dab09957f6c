import { signal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { Icon } from './icon.tsx'
import type { Tone } from './notice.tsx'

type Toast = { id: number; text: string; tone: Tone }

const toast = signal<Toast | null>(null)
const toastMs = 4500
let last = 0

/** Open dialogs, the topmost last. A modal dialog hides the rest of the page, so its own toasts must show. */
const dialogs = signal<readonly string[]>([])

/**
 * Show a sentence for `toastMs`; screen readers read it out. Of forty-odd characters and without names, so that it
 * fits beside the buttons of a small screen; what a person must not miss is a notice.
 */
export function say(text: string, tone: Tone = 'good'): void {
  const id = ++last
  toast.value = { id, text, tone }
  setTimeout(() => {
    if (toast.peek()?.id === id) toast.value = null
  }, toastMs)
}

/** Take the sentence away: what it told about is over. */
export function unsay(): void {
  toast.value = null
}

/** The id of an open dialog, by which its toasts show in it. */
export function useToastPlace(): string {
  const place = useId()
  useEffect(() => {
    dialogs.value = [...dialogs.peek(), place]
    return () => {
      dialogs.value = dialogs.peek().filter((one) => one !== place)
    }
  }, [])
  return place
}

/** The place of the latest toast: once on every page and in every dialog. */
export function Toasts({ place }: { place?: string }) {
  const shown = dialogs.value.at(-1) === place ? toast.value : null
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
