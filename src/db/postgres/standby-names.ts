/** The text of `synchronous_standby_names`: so many of these, in lower case, confirm each commit. `*` is any. */
type WantedStandbys = { count: number; names: readonly string[] }

/** Read `one, two`, `FIRST 2 (one, "two")` or `ANY 1 (*)`. */
export function parseStandbyNames(text: string): WantedStandbys {
  const open = text.indexOf('(')
  const count = open === -1 ? 1 : Number(text.slice(0, open).replace(/\D/g, ''))
  const list = open === -1 ? text : text.slice(open + 1, text.lastIndexOf(')'))
  const names = list.split(',').map((name) => {
    const bare = name.trim().toLowerCase()
    return bare.startsWith('"') ? bare.slice(1, -1).replaceAll('""', '"') : bare
  })
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
