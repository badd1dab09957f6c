/** Requests under way at once: enough to keep several nodes busy. */
const lanes = 24

/** Run something for each item, some of them at once. */
export async function inLanes<T>(
  items: readonly T[],
  run: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items]
  const lane = async () => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await run(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
