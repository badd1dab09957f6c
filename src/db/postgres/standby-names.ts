/** The text of `synchronous_standby_names`: so many of these, in lower case, confirm each commit. `*` is any. */
type WantedStandbys = { count: number; names: readonly string[] }

/** A name, in quotes or not, the count before the names, or the bracket that opens them. */
const parts = /"((?:[^"]|"")*)"|[^\s,()"]+|\(/g

/** Read `one, two`, `FIRST 2 (one, "two, three")` or `ANY 1 (*)`. */
export function parseStandbyNames(text: string): WantedStandbys {
  const found = [...text.matchAll(parts)]
  const open = found.findIndex(([part]) => part === '(')
  const count = open === -1 ? 1 : Number(found[open - 1]?.[0])
  const names = found
    .slice(open + 1)
    .map(([part, quoted = part]) => quoted.replaceAll('""', '"').toLowerCase())
  return { count, names }
}

/** True if as many are connected as commits wait for. A standby is known by its `application_name`. */
export function enoughConnected(
  { count, names }: WantedStandbys,
  connected: readonly string[],
): boolean {
  const wanted = connected.filter(
    (name) => names.includes('*') || names.includes(name.toLowerCase()),
  )
  return wanted.length >= count
}
