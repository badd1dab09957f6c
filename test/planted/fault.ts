/** A deliberate fault: replacements in files of src, and the suites that must notice it. */
export type PlantedFault = {
  name: string
  /** Each text occurs once in its file. */
  edits: { file: string; find: string; replace: string }[]
  /** Files of test/, each within a minute, or a part of one: `file -t pattern`. */
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
