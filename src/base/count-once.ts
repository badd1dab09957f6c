/**
 * Count a request once, although an engine may run the operation around it again. Build one a request. Later
 * calls count nothing: they return what the first one did, or throw its refusal.
 */
export function countOnce<T>(count: () => T): () => T {
  let outcome: { value: T } | { refused: unknown } | null = null
  return () => {
    outcome ??= attempt(count)
    if ('refused' in outcome) throw outcome.refused
    return outcome.value
  }
}

function attempt<T>(count: () => T): { value: T } | { refused: unknown } {
  try {
    return { value: count() }
  } catch (refused) {
    return { refused }
  }
}
