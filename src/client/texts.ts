/** Texts that outlive a request, by name: the storage of a browser, or a map in a test. */
export type TextStore = {
  read(name: string): string | null
  /** False when it could not be kept (storage full or forbidden). */
  write(name: string, text: string): boolean
  remove(name: string): void
}

/** A text store that knows whether it survives the page. */
export type LastingStore = TextStore & {
  /** Whether the text of this name, or one to come, outlives the page; as far as a page can know. */
  lasts(name: string): boolean
}
