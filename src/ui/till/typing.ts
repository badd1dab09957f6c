/** Listens for a scanner that types, whatever has the focus. */
import { take } from './state.ts'
import { burstGapMs, createWedge } from './wedge.ts'

/** Without an Enter a burst has ended when nothing follows for this long. */
const quietMs = burstGapMs * 2

export function listenToScanner(): void {
  const wedge = createWedge()
  let timer: ReturnType<typeof setTimeout> | undefined
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (['Shift', 'CapsLock', 'Control', 'Alt'].includes(event.key)) return
    clearTimeout(timer)
    const scanning = wedge.busy()
    const readings = wedge.stroke({
      key: event.key,
      code: event.code,
      shift: event.shiftKey,
      capsLock: event.getModifierState('CapsLock'),
      atMs: event.timeStamp,
    })
    // The Enter of a scanner must press no button, and its strokes must be no shortcuts; in a field they
    // may as well be of a quick person.
    if (readings || (scanning && !inText(event.target))) {
      event.preventDefault()
      event.stopPropagation()
    }
    if (readings) return accept(event.target, readings)
    timer = setTimeout(() => {
      const rest = wedge.flush()
      if (rest && !inText(event.target)) take(rest)
    }, quietMs)
  }
  window.addEventListener('keydown', onKey, { capture: true })
}

/** What was typed into a field by the way is not left there. */
function accept(target: EventTarget | null, readings: string[]): void {
  const scanned = take(readings)
  if (scanned.kind !== 'coupon' || !(target instanceof HTMLInputElement)) return
  target.value = ''
  target.dispatchEvent(new Event('input', { bubbles: true }))
}

function inText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'file'].includes(target.type))
  )
}
