/** Accepted picture formats, with their first bytes in hex. No format that can hold a script (SVG) is one. */
const kinds = [
  { type: 'image/png', ending: 'png', begins: /^89504e470d0a1a0a/ },
  { type: 'image/jpeg', ending: 'jpg', begins: /^ffd8ff/ },
  { type: 'image/gif', ending: 'gif', begins: /^47494638(37|39)61/ },
  { type: 'image/webp', ending: 'webp', begins: /^52494646.{8}57454250/ },
  { type: 'image/avif', ending: 'avif', begins: /^.{8}66747970617669(66|73)/ },
] as const

/** An accepted picture format. */
export type ImageKind = (typeof kinds)[number]

/** The format by the first bytes, or null. The Content-Type of the other server is not trusted. */
export function imageKind(bytes: Uint8Array): ImageKind | null {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('hex')
  return kinds.find(({ begins }) => begins.test(start)) ?? null
}

/** The format by the ending of a file name, or null. */
export function imageKindOf(file: string): ImageKind | null {
  return kinds.find(({ ending }) => file.endsWith(`.${ending}`)) ?? null
}
