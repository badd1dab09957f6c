/** True for text with the form of a picture's name. */
export function isPictureHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

const path = '/api/pictures/'

/** The address of a picture: under the https origin, or only the path without one. */
export function picturePath(hash: string, origin: string | null): string {
  return `${origin ?? ''}${path}${hash}`
}

/** The picture that an https address of this service names. Null for every other address. */
export function pictureAt(address: string, origins: readonly string[]): string | null {
  const url = URL.parse(address)
  if (url?.protocol !== 'https:' || !origins.includes(url.origin)) return null
  const hash = url.pathname.startsWith(path) ? url.pathname.slice(path.length) : null
  return isPictureHash(hash) ? hash : null
}
