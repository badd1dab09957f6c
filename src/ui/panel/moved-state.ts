import { signal } from '@preact/signals'
import { readPlace } from '../../client/place.ts'
import type { PageSigner } from '../../client/signer.ts'

/** `signer` and `words`: where this page closed the service, so that it asks for neither again. */
type Moved = { signer: PageSigner | null; words: string | null }

/** Not null once the service of this page was closed for a move. */
export const moved = signal<Moved | null>(null)

/** True on a new computer, once the service from another one runs here. */
export const broughtIn = signal(false)

/** Ask whether the service has moved: nobody can sign in to one that has. */
export async function lookForMove(): Promise<void> {
  if ((await readPlace()) === 'moved') moved.value ??= { signer: null, words: null }
}
