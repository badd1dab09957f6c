/** Resolves after the next paint, so that work which holds the page does not delay what it shows. */
export function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
}
