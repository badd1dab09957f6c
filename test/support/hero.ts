/** The large amount of a coupon, measured in the page. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

const fonts = ['', '"DejaVu Serif"', '"DejaVu Sans Mono"']
const widths = [320, 360, 768, 1440]

/**
 * The size of the letters by font and width of the page. Fails where a word of the amount is broken, or reaches out
 * of its box.
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
  await frame()
  await frame()
  const words = document.querySelector('.fitted > span')
  const [text, box] = [words?.firstChild, words?.closest(boxName)]
  if (!words || !text || !box) throw new Error('no amount')
  const linesOf = (from: number, to: number) => {
    const range = document.createRange()
    range.setStart(text, from)
    range.setEnd(text, to)
    return [...range.getClientRects()]
  }
  const found = [...(text.textContent ?? '').matchAll(/\S+/g)]
  const broken = found.filter(
    ({ 0: word, index }) => linesOf(index, index + word.length).length > 1,
  )
  const { left, right } = box.getBoundingClientRect()
  const outside = linesOf(0, text.textContent?.length ?? 0).filter(
    (line) => line.left < left || line.right > right,
  )
  return {
    broken: broken.map(([word]) => word),
    outside: outside.length,
    size: Number.parseFloat(getComputedStyle(words).fontSize),
  }
}
