import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axe = join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')

type AxeRun = { violations: { id: string; nodes: { html: string }[] }[] }

/** Nothing on the page that axe, at WCAG 2.2 AA and its best practices, finds wrong. */
export async function accessible(page: Page): Promise<void> {
  await page.evaluate(await Bun.file(axe).text())
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeRun> } }
    const { violations } = await axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
  expect(found).toEqual([])
}

/** Nothing sticks out to the side. */
export async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth > clientWidth ? `${scrollWidth} of ${clientWidth}` : null
  })
  expect(wide).toBeNull()
}
