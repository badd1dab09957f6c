import type { Page } from 'playwright-core'
import { picture } from './browser.ts'
import { expectAccessible, expectNoOverflow, expectTouchable } from './page-checks.ts'

/**
 * One state of a page as it stands: kept as a picture; nothing sticks out, and axe finds nothing.
 * `PICTURES=all`: at every width, in both themes.
 */
export async function checkPage(page: Page, name: string): Promise<void> {
  if (process.env.PICTURES === 'all') return checkEveryWidth(page, name)
  await expectNoOverflow(page)
  await expectTouchable(page)
  await expectAccessible(page)
  await picture(page, name)
}

type Look = readonly [width: number, theme: 'light' | 'dark']

/** The pictures that a run keeps; `PICTURES=all`: every width in both themes, for a review by eye. */
const kept: readonly Look[] = [
  [360, 'light'],
  [768, 'light'],
  [1440, 'dark'],
]
const all: readonly Look[] = [
  ...[360, 768, 1440].map((width) => [width, 'light'] as const),
  ...[1440, 768, 360].map((width) => [width, 'dark'] as const),
]

/**
 * One state of a page as people see it: at three widths, light and dark, kept as pictures; nothing sticks
 * out, and axe finds nothing. The page is left as it was found.
 */
export async function checkEveryWidth(page: Page, name: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 360, height: 800 }
  let worn = 'light'
  for (const [width, theme] of process.env.PICTURES === 'all' ? all : kept) {
    await page.setViewportSize({ width, height: 800 })
    if (theme !== worn) {
      await wear(page, theme)
      worn = theme
      // The other colours; names and roles are the same.
      await expectAccessible(page, ['color-contrast'])
    } else if (width === 360) await expectAccessible(page)
    await expectNoOverflow(page)
    await expectTouchable(page)
    // Else the bar at the top shows in the middle of the picture.
    await page.evaluate(() => window.scrollTo(0, 0))
    await picture(page, `${name}-${width}-${theme}`)
  }
  await wear(page, 'light')
  await page.setViewportSize(before)
}

/** A page with no script goes by the device alone. */
async function wear(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html:not([data-theme]), html[data-theme="${colorScheme}"]`).waitFor()
}
