import type { Page } from 'playwright-core'
import { picture } from './browser.ts'
import { accessible, fits } from './page-checks.ts'

/** One state of a page as it stands: kept as a picture; nothing sticks out, and axe finds nothing. */
export async function good(page: Page, name: string): Promise<void> {
  await fits(page)
  await accessible(page)
  await picture(page, name)
}

const widths = [360, 768, 1440]

/**
 * One state of a page as people see it: at three widths, light and dark, kept as pictures; nothing sticks
 * out, and axe finds nothing. The page is left as it was found.
 */
export async function looks(page: Page, name: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 360, height: 800 }
  const wear = (colorScheme: 'light' | 'dark') => page.emulateMedia({ colorScheme })
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    await fits(page)
    // Else the bar at the top shows in the middle of the picture.
    await page.evaluate(() => window.scrollTo(0, 0))
    await picture(page, `${name}-${width}-light`)
  }
  await accessible(page)
  await wear('dark')
  await page.locator('html[data-theme="dark"]').waitFor()
  for (const width of widths.toReversed()) {
    await page.setViewportSize({ width, height: 800 })
    await picture(page, `${name}-${width}-dark`)
  }
  await accessible(page)
  await wear('light')
  await page.setViewportSize(before)
}
