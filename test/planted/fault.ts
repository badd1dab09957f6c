/** A deliberate fault: replacements in files of src, and the suites that must notice it. */
export type PlantedFault = {
  name: string
  /** Each text occurs once in its file. */
  edits: { file: string; find: string; replace: string }[]
  /**
   * Files of test/, or a part of one (`file -t pattern`), or a command with its arguments. Each harness with a suite
   * here must catch the fault itself, and so must one of the other suites.
   */
  suites: string[]
}

/** A fault of one replacement. */
export function planted(
  name: string,
  suites: string | string[],
  file: string,
  find: string,
  replace: string,
): PlantedFault {
  return { name, edits: [{ file, find, replace }], suites: [suites].flat() }
}

/** The part of the power cuts that is made for answers. */
export const powerCut = 'test/fault/power-cut.test.ts -t every answer'

/** Harnesses that are made for one kind of fault, by the beginning of their suites. */
const harnesses = {
  'power cut': 'test/fault/power-cut',
  'disk fault': 'test/fault/disk-faults',
  race: 'test/fault/races',
  'race on PostgreSQL': 'test/postgres/races',
  crash: 'test/fault/crash',
  'crash of a transfer': 'test/fault/transfer-crash',
  failover: 'test/postgres/failover',
  simulation: 'test/simulation/',
  differential: 'test/differential/',
} as const

/** `feature`: the tests of the part that has the fault. */
export type Kind = keyof typeof harnesses | 'feature'

export function kindOf(suite: string): Kind {
  const found = Object.entries(harnesses).find(([, beginning]) => suite.startsWith(beginning))
  return found ? (found[0] as Kind) : 'feature'
}

/** The suites of a fault by kind. Of each kind one suite must catch it. */
export function suitesByKind({ suites }: PlantedFault): Map<Kind, string[]> {
  return Map.groupBy(suites, kindOf)
}
