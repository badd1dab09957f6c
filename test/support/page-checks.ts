import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axe = join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')

type AxeRun = { violations: { id: string; nodes: { html: string }[] }[] }
type Axe = { run(options: unknown): Promise<AxeRun> }

/** Nothing on the page that axe, at WCAG 2.2 AA and its best practices, finds wrong; `only`: these rules. */
export async function expectAccessible(page: Page, only?: readonly string[]): Promise<void> {
  const known = await page.evaluate(() => 'axe' in globalThis)
  if (!known) await page.evaluate(await Bun.file(axe).text())
  const options = { resultTypes: ['violations'], ...(only && { runOnly: only }) }
  const found = await page.evaluate(async (asked) => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(asked)
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }, options)
  expect(found).toEqual([])
}

/** Nothing sticks out to the side, and no tab hides beyond the end of its row. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.tabs')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((one) => `${one.className}: ${one.scrollWidth} of ${one.clientWidth}`),
  )
  expect(wide).toEqual([])
}

/**
 * Every control is large enough for a finger: 44 pixels high and wide. Exempt are a link within a
 * sentence and a control that only a keyboard reaches.
 */
export async function expectTouchable(page: Page): Promise<void> {
  const small = await page.evaluate(() => {
    const pressed = 'a[href], button, input, select, textarea, summary'
    return [...document.querySelectorAll<HTMLElement>(pressed)].flatMap((one) => {
      const box = (one.closest('label') ?? one).getBoundingClientRect()
      const seen =
        one.checkVisibility({ visibilityProperty: true }) && !one.closest('.skip, .unseen, p')
      const { width, height } = box
      const fits = Math.round(height) >= 44 && Math.round(width) >= 44
      return !seen || fits ? [] : [`${Math.round(width)}x${Math.round(height)} ${one.outerHTML}`]
    })
  })
  expect(small).toEqual([])
}

/**
 * Places where one of these names, which are written from right to left, turns the text beside it: in the
 * visible text and in the text for screen readers.
 */
export async function textTurnedBy(page: Page, names: readonly string[]): Promise<string[]> {
  return page.evaluate((known) => {
    const rtl = /[\u0590-\u08ff]/
    /** All of it that is written from right to left stands between marks. */
    const marked = (text: string) => !rtl.test(text.replace(/\u2068[^\u2068\u2069]*\u2069/g, ''))
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? ''
      const parent = node.parentElement
      if (!parent || !rtl.test(text) || marked(text) || parent.closest('script, style')) continue
      const whole = text.trim()
      let around: HTMLElement | null = parent
      // Up to an element with no other text: a block of its own, or an isolated one.
      while (around && around.textContent?.trim() === whole) {
        const { display, unicodeBidi } = getComputedStyle(around)
        if (!display.startsWith('inline') || unicodeBidi.includes('isolate')) break
        around = around.parentElement
      }
      const alone = known.includes(whole) && around?.textContent?.trim() === whole
      if (!alone) found.push(parent.outerHTML)
    }
    for (const one of document.querySelectorAll('[aria-label], [title], [alt]')) {
      for (const name of ['aria-label', 'title', 'alt']) {
        const text = one.getAttribute(name) ?? ''
        if (!marked(text)) found.push(`${name}="${text}"`)
      }
    }
    return marked(document.title) ? found : [...found, document.title]
  }, names)
}
