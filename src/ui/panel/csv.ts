/** `places`: decimals that a number always has, as amounts of money do. */
export type Cell = string | number | { value: number; places: number } | null

/**
 * Rows as CSV for spreadsheets: quoted, with a byte order mark (else Excel breaks accents), and without
 * formulas (OWASP: a cell that begins with = + - @ or a control is run). `between`: spreadsheets expect the semicolon
 * where the comma marks decimals.
 */
export function csvOf(rows: readonly (readonly Cell[])[], between: ',' | ';' = ','): string {
  return `\ufeff${rows.map((row) => `${row.map((cell) => cellOf(cell, between)).join(between)}\r\n`).join('')}`
}

function cellOf(cell: Cell, between: ',' | ';'): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') {
    const text = typeof cell === 'number' ? String(cell) : cell.value.toFixed(cell.places)
    return between === ';' ? text.replace('.', ',') : text
  }
  // Spreadsheets also run one after white space, and some in full-width characters.
  const harmless = /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(cell) ? `'${cell}` : cell
  return `"${harmless.replaceAll('"', '""')}"`
}
