/** Named texts that survive a request: the storage of a browser, or a map in a test. */
export type TextStore = {
  read(name: string): string | null
  /** False when the text was not stored (storage full or forbidden). */
  write(name: string, text: string): boolean
  remove(name: string): void
}

/** A text store that knows whether its texts survive the page. */
export type LastingStore = TextStore & {
  /** Whether the text of this name, or a new one, survives the page, as far as a page can know. */
  lasts(name: string): boolean
  /** Whether the storage itself has a text of this name: the next page reads it. */
  holds(name: string): boolean
}
