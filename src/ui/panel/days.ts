/** `YYYY-MM-DD` on the clock of this device. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The first second of a day on the clock of this device; NaN for an invalid day. */
export function startOf(day: string): number {
  return secondOf(day, [0, 0, 0])
}

/** The last second of a day on the clock of this device; NaN for an invalid day. */
export function endOf(day: string): number {
  return secondOf(day, [23, 59, 59])
}

function secondOf(day: string, clock: [number, number, number]): number {
  const [year = Number.NaN, month = 1, date = 1] = day.split('-').map(Number)
  return Math.floor(new Date(year, month - 1, date, ...clock).getTime() / 1000)
}
