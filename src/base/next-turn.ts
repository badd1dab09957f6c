/** Resolves in a later turn of the event loop: others are served between two parts of long work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
