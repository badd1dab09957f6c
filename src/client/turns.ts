/** Turns of calls that share the keys of a storage. */
import { unless } from './caller.ts'

/** The last turn of each name, by the storage. */
const turns = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Run work after all earlier work of its name in a storage, however that ends. Overlapping calls would otherwise take each
 * other's keys for unused, or forget them. Throws what `work` throws, and the reason of `signal`.
 */
export function inTurn<T>(
  storage: object,
  name: string,
  { work, signal }: { work: () => Promise<T>; signal: AbortSignal | undefined },
): Promise<T> {
  const last = turns.get(storage) ?? new Map<string, Promise<unknown>>()
  turns.set(storage, last)
  const begin = () => {
    signal?.throwIfAborted()
    return work()
  }
  const turn = (last.get(name) ?? Promise.resolve()).then(begin, begin)
  last.set(name, turn)
  const end = () => {
    if (last.get(name) === turn) last.delete(name)
  }
  turn.then(end, end)
  return unless(signal, turn)
}
