import type { Table, Value } from './tables.ts'

/** The number of the rows of a table, and a digest of their values in the order of the key. */
export type Digest = { rows: number; digest: string }

/** Digests the rows of a table as they come, of any engine. */
export class Digester {
  readonly #hash = new Bun.CryptoHasher('sha256')
  /**
   * A server orders a text with NUL otherwise than a file does (connection.ts). The digests of such rows are added up,
   * so that their order does not matter.
   */
  readonly #sums: boolean
  #sum = 0n
  #rows = 0
  #text = ''

  constructor({ columns, key }: Table) {
    this.#sums = columns.some(({ name, type }) => type === 'TEXT' && key.includes(name))
  }

  add(row: readonly Value[]): void {
    for (const value of row) {
      if (value === null) this.#text += 'n;'
      else if (typeof value === 'string') this.#text += `t${value.length}:${value};`
      else this.#text += `b${value.toHex()};`
    }
    this.#text += '\n'
    this.#rows++
    if (this.#sums || this.#text.length > 65_536) this.#flush()
  }

  end(): Digest {
    this.#flush()
    const digest = this.#sums ? this.#sum.toString(16) : this.#hash.digest('hex')
    return { rows: this.#rows, digest }
  }

  #flush(): void {
    if (this.#sums) this.#sum += BigInt(`0x${Bun.CryptoHasher.hash('sha256', this.#text, 'hex')}`)
    else this.#hash.update(this.#text)
    this.#text = ''
  }
}
