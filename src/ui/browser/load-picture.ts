/** Nobody waits longer for the logo of a shop on a paper or in a picture. */
const waitMs = 2000

/** A picture of this origin, ready to be drawn; null where it does not load soon. */
export async function loadPicture(path: string | null): Promise<HTMLImageElement | null> {
  if (path === null) return null
  const image = new Image()
  image.src = path
  const loaded = image.decode().then(
    () => image,
    () => null,
  )
  return Promise.race([loaded, new Promise<null>((resolve) => setTimeout(resolve, waitMs, null))])
}

/** The path of a picture that loads soon; else null, so that no paper waits for it or shows it broken. */
export async function loadedPath(path: string | null): Promise<string | null> {
  return (await loadPicture(path)) ? path : null
}
