/** Date (year, month, day) and time on the clock of this device. */
export function localTime(seconds: number): [string, string] {
  const at = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())]
  const time = [two(at.getHours()), two(at.getMinutes()), two(at.getSeconds())]
  return [day.join('-'), time.join(':')]
}
