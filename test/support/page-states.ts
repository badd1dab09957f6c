/** States that a page leaves by itself, held or caught: a test on a busy machine may come late to them. */
import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'

/**
 * A toast shows for 4.5 s only, which begin here when the test has seen it. It is in view, it covers nothing that can be
 * pressed, and nothing moves for it; the page itself looks as soon as it appears.
 */
export async function expectToast(toast: Locator, action: () => Promise<unknown>): Promise<void> {
  const timers = await holdTimers(toast.page(), 4500)
  const watch = await watchToasts(toast.page())
  await Promise.all([toast.waitFor(), action()])
  await timers.evaluate(({ release }) => release())
  const faults = await watch.evaluate((watched) => {
    watched.observer.disconnect()
    return watched.faults
  })
  expect(faults).toEqual([])
}

function watchToasts(page: Page) {
  return page.evaluateHandle(() => {
    const faults: string[] = []
    let last: Element | null = null
    /** Controls under a toast, which lets taps through. */
    const coveredBy = ({ left, top, right, bottom }: DOMRect) => {
      const found = new Set<string>()
      for (let x = left + 1; x < right; x += 4) {
        for (let y = top + 1; y < bottom; y += 4) {
          const control = document
            .elementFromPoint(x, y)
            ?.closest('a[href], button, input, select, textarea, summary, label')
          if (control) found.add(`it covers ${control.outerHTML}`)
        }
      }
      return [...found]
    }
    const look = (toast: HTMLElement) => {
      const box = toast.getBoundingClientRect()
      const head = toast.closest('.top, .dialog-head')
      const inView = box.top >= 0 && box.left >= 0 && box.right <= innerWidth
      const whole = toast.scrollWidth <= toast.clientWidth
      if (!inView || !whole) faults.push(`it is cut: ${toast.textContent}`)
      faults.push(...coveredBy(box))
      const high = head?.clientHeight
      toast.hidden = true
      if (head?.clientHeight !== high) faults.push(`it moves the page: ${toast.textContent}`)
      toast.hidden = false
    }
    const observer = new MutationObserver(() => {
      const toast = document.querySelector<HTMLElement>('.toast')
      if (!toast || toast === last) return
      last = toast
      look(toast)
    })
    observer.observe(document.body, { childList: true, subtree: true })
    return { faults, observer }
  })
}

/** From now on a page does not look for news by itself, as in the background: only a person's tap asks. */
export async function lookOnlyWhenAsked(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
  })
}

/**
 * The clock of a page moves only as the test wants, from now on. Its clock is set back before it stops now, so
 * that now is in its future on a busy machine, too: a clock never goes back.
 */
export async function stopClock(page: Page): Promise<void> {
  const now = Date.now()
  await page.clock.install({ time: now - 60_000 })
  await page.clock.pauseAt(now)
}

/** A paper and a picture wait for a name or a logo as long as it takes; by itself a page goes on without after 2 s. */
export async function waitForLooks(page: Page): Promise<void> {
  await holdTimers(page, 2000)
}

/** Timers of this length that a page sets from now on begin when they are released. */
function holdTimers(page: Page, length: number) {
  return page.evaluateHandle((held) => {
    const set = window.setTimeout as (...given: unknown[]) => number
    const waiting: unknown[][] = []
    const hold = (...given: unknown[]) => {
      if (given[1] !== held) return set(...given)
      waiting.push(given)
      return 0
    }
    Object.assign(window, { setTimeout: hold })
    const release = () => {
      Object.assign(window, { setTimeout: set })
      for (const given of waiting) set(...given)
    }
    return { release }
  }, length)
}

/** The next frame of a page is drawn: the focus has moved to its place. */
export async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
}
