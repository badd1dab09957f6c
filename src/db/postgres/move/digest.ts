import type { Value } from './tables.ts'

/** The number of the rows of a table, and a digest of their values in the order of the key. */
export type Digest = { rows: number; sha256: string }

/** Digests rows as they come, of any engine. */
export class Digester {
  readonly #hash = new Bun.CryptoHasher('sha256')
  #rows = 0
  #text = ''

  add(row: readonly Value[]): void {
    for (const value of row) {
      if (value === null) this.#text += 'n;'
      else if (typeof value === 'string') this.#text += `t${value.length}:${value};`
      else this.#text += `b${value.toHex()};`
    }
    this.#text += '\n'
    this.#rows++
    if (this.#text.length > 65_536) this.#flush()
  }

  end(): Digest {
    this.#flush()
    return { rows: this.#rows, sha256: this.#hash.digest('hex') }
  }

  #flush(): void {
    this.#hash.update(this.#text)
    this.#text = ''
  }
}
