import type { LastingStore } from '../../client/texts.ts'

/** Texts that this device keeps until they are removed. */
export const device = keepIn(() => window.localStorage)
/** Texts that end with this tab. */
export const tab = keepIn(() => window.sessionStorage)

const prefix = 'cuponera:'

/**
 * A storage of the browser. Where it refuses, as in a private window, texts stay in memory until the page
 * ends.
 */
function keepIn(open: () => Storage): LastingStore {
  const memory = new Map<string, string>()
  const attempt = <T>(action: (storage: Storage) => T, otherwise: () => T): T => {
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
    holds: (name) =>
      !memory.has(name) &&
      attempt(
        (storage) => storage.getItem(prefix + name) !== null,
        () => false,
      ),
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
