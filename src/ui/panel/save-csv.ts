import { saveFile } from '../browser/clipboard.ts'
import { language } from '../browser/language.ts'
import { type Cell, csvOf } from './csv.ts'

/** Save rows as a file for spreadsheets, with the separator that they expect in this language. */
export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  const text = csvOf(rows, language.peek() === 'es' ? ';' : ',')
  saveFile(name, new Blob([text], { type: 'text/csv' }))
}
