/**
 * The value of each key, made once, also for callers at the same time. A failure is not kept: the next caller
 * tries again. Keys must be few, since nothing is forgotten.
 */
export function memoize<Key, Value>(
  make: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const made = new Map<Key, Promise<Value>>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const making = make(key).catch((cause: unknown) => {
      made.delete(key)
      throw cause
    })
    made.set(key, making)
    return making
  }
}
