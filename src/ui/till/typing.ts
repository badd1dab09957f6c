/** Listens to a scanner that types like a keyboard, wherever the focus is. */
import { take } from './state.ts'
import { burstGapMs, createWedge } from './wedge.ts'

/** Silence that ends a burst without an Enter. */
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
    // The Enter of a scanner must press no button, and its keys must be no shortcuts. In a field a person may
    // type as fast.
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

/** Take the readings, and clear the field into which the scanner typed. */
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
