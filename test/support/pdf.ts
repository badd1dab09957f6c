import { inflateSync } from 'node:zlib'

/**
 * The number of pages of a PDF by Chromium, and the numbers of those without a word, from 1. Its
 * objects are plain, and its streams compressed (ISO 32000-1, 7.3 and 7.7.3.3).
 */
export function pagesOf(pdf: Uint8Array): { count: number; empty: number[] } {
  const text = Buffer.from(pdf).toString('latin1')
  const pages = [...text.matchAll(/\d+ 0 obj\s*<<\/Type \/Page\s[\s\S]*?endobj/g)]
  const empty = pages.flatMap(([page], index) => {
    const [, contents = ''] = /\/Contents (\d+) 0 R/.exec(page) ?? []
    return showsText(streamOf(text, contents)) ? [] : [index + 1]
  })
  return { count: pages.length, empty }
}

function streamOf(text: string, number: string): string {
  const start = new RegExp(`(?:^|\\n)${number} 0 obj\\s*<<[^>]*>>\\s*stream\\r?\\n`).exec(text)
  if (!start) throw new Error(`the PDF has no stream ${number}`)
  const [head] = start
  const [, length = '0'] = /\/Length (\d+)/.exec(head) ?? []
  const from = start.index + head.length
  const bytes = Buffer.from(text.slice(from, from + Number(length)), 'latin1')
  return (head.includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1')
}

/** Whether it shows text. A shape proves nothing: the white of the page is one. */
function showsText(stream: string): boolean {
  return /\bT[jJ]\s*$/m.test(stream)
}
