/** The large amounts of coupons, measured in the page. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

const fonts = ['', '"DejaVu Sans Mono"']
const widths = [320, 360, 768, 1440]

/**
 * The size of the letters of the first amount, by font and width of the page. Fails where a word of an amount is
 * broken, or reaches out of its box.
 */
export async function heroSizes(page: Page, box: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  for (const font of fonts) {
    await page.evaluate((name) => {
      document.documentElement.style.setProperty('--font', name)
      if (name === '') document.documentElement.style.removeProperty('--font')
    }, font)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 })
      const { size, ...found } = await page.evaluate(measure, box)
      const look = { font, width }
      expect({ ...look, ...found }).toEqual({ ...look, broken: [], outside: 0 })
      sizes[`${width} ${font}`] = size
    }
  }
  return sizes
}

async function measure(boxName: string) {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  // A box that is as wide as before does not tell that the font is another.
  for (const size of ['15px', '']) {
    document.documentElement.style.fontSize = size
    await frame()
    await frame()
  }
  const linesOf = (text: Node, from: number, to: number) => {
    const range = document.createRange()
    range.setStart(text, from)
    range.setEnd(text, to)
    return [...range.getClientRects()]
  }
  const measured = [...document.querySelectorAll('.fitted > span')].map((words) => {
    const [text, box] = [words.firstChild, words.closest(boxName)]
    if (!text || !box) throw new Error('no amount')
    const all = text.textContent ?? ''
    const { left, right } = box.getBoundingClientRect()
    return {
      broken: [...all.matchAll(/\S+/g)]
        .filter(({ 0: word, index }) => linesOf(text, index, index + word.length).length > 1)
        .map(([word]) => word),
      outside: linesOf(text, 0, all.length).filter(
        (line) => line.left < left || line.right > right,
      ),
      size: Number.parseFloat(getComputedStyle(words).fontSize),
    }
  })
  return {
    broken: measured.flatMap(({ broken }) => broken),
    outside: measured.flatMap(({ outside }) => outside).length,
    size: measured[0]?.size ?? 0,
  }
}
