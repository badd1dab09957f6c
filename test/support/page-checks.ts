import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axe = join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')

type AxeRun = { violations: { id: string; nodes: { html: string }[] }[] }
type Axe = { run(options: unknown): Promise<AxeRun> }

/** Nothing on the page that axe, at WCAG 2.2 AA and its best practices, finds wrong; `only`: these rules. */
export async function accessible(page: Page, only?: readonly string[]): Promise<void> {
  const known = await page.evaluate(() => 'axe' in globalThis)
  if (!known) await page.evaluate(await Bun.file(axe).text())
  const options = { resultTypes: ['violations'], ...(only && { runOnly: only }) }
  const found = await page.evaluate(async (asked) => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(asked)
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }, options)
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
