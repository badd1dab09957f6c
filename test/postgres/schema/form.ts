/** The form of a database as its catalogue has it, in lines that are the same on both engines where the form is. */

/** Lines of each table: its columns in order, its constraints, and its indexes. */
export type Form = Record<string, Lines>

export type Lines = { columns: string[]; others: string[] }

/** A column as both engines write it here. */
export function columnLine(column: {
  name: string
  type: string
  filled: boolean
  value: string | null
  identity: boolean
}): string {
  const { name, type, filled, value, identity } = column
  const parts = [
    `${name} ${type}`,
    filled ? 'NOT NULL' : '',
    value === null ? '' : `DEFAULT ${value}`,
  ]
  return [...parts, identity ? 'GIVES IDS' : ''].filter(Boolean).join(' ')
}

/** Lines that only the first form has (`-`) and only the second (`+`), by table. A table of one form alone is one line. */
export function differences(first: Form, second: Form): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const table of new Set([...Object.keys(first), ...Object.keys(second)])) {
    const lines = ofTable(first[table], second[table])
    if (lines.length > 0) found[table] = lines
  }
  return found
}

function ofTable(first: Lines | undefined, second: Lines | undefined): string[] {
  if (!first) return ['+ table']
  if (!second) return ['- table']
  const lines = (one: Lines, sign: string, other: Lines) =>
    without([...one.columns, ...one.others], [...other.columns, ...other.others]).map(
      (line) => `${sign} ${line}`,
    )
  const changed = [...lines(first, '-', second), ...lines(second, '+', first)]
  const common = [first, second].map(({ columns }) =>
    columns.map(nameOf).filter((name) => [first, second].every((one) => has(one, name))),
  )
  const moved = String(common[0]) === String(common[1]) ? [] : [`+ order ${common[1]}`]
  return [...changed, ...moved]
}

const nameOf = (line: string) => line.split(' ')[0] ?? ''
const has = ({ columns }: Lines, name: string) => columns.some((line) => nameOf(line) === name)

/** The lines of `list` that are not in `others`, each as often as it is missing there. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return list.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
