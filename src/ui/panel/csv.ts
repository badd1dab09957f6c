type Cell = string | number | null

/**
 * Rows as CSV that a spreadsheet opens as it is meant: quoted, with a byte order mark for accents, and
 * no text that it would run as a formula (OWASP: a cell that begins with = + - @ or a control). Where
 * the comma is for decimals a spreadsheet expects a semicolon in `between`.
 */
export function csvOf(rows: readonly (readonly Cell[])[], between: ',' | ';' = ','): string {
  return `\ufeff${rows.map((row) => `${row.map(cellOf).join(between)}\r\n`).join('')}`
}

function cellOf(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  // Also what looks like one after white space or in full-width characters.
  const harmless = /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(cell) ? `'${cell}` : cell
  return `"${harmless.replaceAll('"', '""')}"`
}
