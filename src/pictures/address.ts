/** True for text with the form of a picture's name. */
export function isPictureHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

const path = '/api/pictures/'

/** The address of a picture: under the https origin, or only the path without one. */
export function picturePath(hash: string, origin: string | null): string {
  return `${origin ?? ''}${path}${hash}`
}

/**
 * The picture that an https address of this service names, in every spelling that is answered: capitals, percent
 * signs, a slash at the end. Null for every other address.
 */
export function pictureAt(address: string, origins: readonly string[]): string | null {
  const url = URL.parse(address)
  if (url?.protocol !== 'https:' || !origins.includes(url.origin)) return null
  const asked = decoded(url.pathname)
  if (!asked?.startsWith(path)) return null
  const hash = asked.slice(path.length).replace(/\/$/, '').toLowerCase()
  return isPictureHash(hash) ? hash : null
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
