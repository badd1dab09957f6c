/** What a browser keeps for us, as text. A private window may refuse: then it lasts as long as the page. */
type Storage = {
  read(name: string): string | null
  /** False where the browser keeps nothing: then it is gone with the page. */
  write(name: string, value: string): boolean
  remove(name: string): void
  /** Whether what has this name, or will have it, outlives the page; as far as a page can know. */
  lasts(name: string): boolean
}

/** Kept on this device until it is removed. */
export const device = keepIn(() => window.localStorage)
/** Kept as long as this tab. */
export const tab = keepIn(() => window.sessionStorage)

const prefix = 'cuponera:'

function keepIn(open: () => globalThis.Storage): Storage {
  const memory = new Map<string, string>()
  const attempt = <T>(action: (storage: globalThis.Storage) => T, otherwise: () => T): T => {
    try {
      return action(open())
    } catch (cause) {
      // SecurityError where storage is switched off, QuotaExceededError where it is full.
      if (cause instanceof DOMException) return otherwise()
      throw cause
    }
  }
  return {
    read: (name) =>
      memory.get(name) ??
      attempt(
        (storage) => storage.getItem(prefix + name),
        () => null,
      ),
    write(name, value) {
      memory.delete(name)
      return attempt(
        (storage) => {
          storage.setItem(prefix + name, value)
          return true
        },
        () => {
          memory.set(name, value)
          return false
        },
      )
    },
    remove(name) {
      memory.delete(name)
      attempt(
        (storage) => storage.removeItem(prefix + name),
        () => undefined,
      )
    },
    lasts: (name) =>
      !memory.has(name) &&
      attempt(
        (storage) => {
          storage.setItem(`${prefix}trial`, '')
          storage.removeItem(`${prefix}trial`)
          return true
        },
        () => false,
      ),
  }
}
