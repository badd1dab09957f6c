import { type describeMachine, median, medianBounds } from './machine.ts'

/** A figure of the issue and whether it was reached in this run. */
export type Target = { name: string; measured: number; limit: number; unit: string; least: boolean }

export type Table = { title: string; about: string[]; columns: string[]; rows: Cell[][] }
export type Cell = string | number

export type Report = {
  program: string
  machine: ReturnType<typeof describeMachine>
  engine: string
  tables: Table[]
  targets: (Target & { reached: boolean })[]
}

/** A target with its verdict; a figure that could not be measured is not reached. */
export function judge(target: Target): Target & { reached: boolean } {
  const { measured, limit, least } = target
  return { ...target, reached: least ? measured >= limit : measured <= limit }
}

/** The report for people. */
export function tell({ program, machine, engine, tables, targets }: Report): string {
  const facts = [
    `program      ${program}, Bun ${machine.bun}`,
    `signatures   ${engine}`,
    `machine      ${machine.cores} × ${machine.processor}, ${machine.memoryMb} MB, load ${machine.load.toFixed(2)} before the run`,
    `disk         ${machine.fileSystem}; a 4 KB write with sync takes ${machine.syncMs.toFixed(3)} ms`,
  ]
  const verdicts = targets.map(({ name, measured, limit, unit, least, reached }) => [
    reached ? 'reached' : 'MISSED',
    name,
    `${format(measured)} ${unit}`,
    `${least ? '≥' : '≤'} ${format(limit)} ${unit}`,
  ])
  return [
    facts.join('\n'),
    ...tables.map(({ title, about, columns, rows }) =>
      [title, ...about.map((line) => `  ${line}`), lines([columns, ...rows])].join('\n'),
    ),
    ['Targets (native engine)', lines(verdicts)].join('\n'),
  ].join('\n\n')
}

/** A share for people, in whole hundredths. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Quotients for people: their median, the least and the most, and where the true median is, by a chance of 95 %. */
export function quotients(values: readonly number[]): [string, string] {
  if (values.length === 0) return ['n/a', 'n/a']
  const between = (bounds: readonly number[]) => bounds.map((one) => one.toFixed(2)).join('–')
  const range = between([Math.min(...values), Math.max(...values)])
  return [`${median(values).toFixed(2)} × (${range})`, between(medianBounds(values) ?? []) || 'n/a']
}

/** Three figures that matter, thousands apart. */
function format(cell: Cell): string {
  if (typeof cell === 'string') return cell
  if (Number.isNaN(cell)) return 'n/a'
  if (Math.abs(cell) >= 100) return Math.round(cell).toLocaleString('en').replaceAll(',', ' ')
  return cell.toFixed(Math.abs(cell) >= 10 ? 1 : 2)
}

function lines(rows: Cell[][]): string {
  const texts = rows.map((row) => row.map(format))
  const widths = (texts[0] ?? []).map((_, at) =>
    Math.max(...texts.map((row) => row[at]?.length ?? 0)),
  )
  return texts
    .map((row) =>
      row
        .map((text, at) => (at < 2 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n')
}
