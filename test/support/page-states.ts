/** States that a page leaves by itself, held or caught: a test on a busy machine may come late to them. */
import type { Locator, Page } from 'playwright-core'

/** A toast shows for some seconds only: the wait for it begins before the action that it answers. */
export async function expectToast(toast: Locator, action: () => Promise<unknown>): Promise<void> {
  await Promise.all([toast.waitFor(), action()])
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

/** The next frame of a page is drawn: the focus has moved to its place. */
export async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
}
