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

/** The next frame of a page is drawn: the focus has moved to its place. */
export async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
}
