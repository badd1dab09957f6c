import { type ReadonlySignal, signal } from '@preact/signals'
import { createSession, type Identity, type Session } from '../../client/session.ts'
import type { PageSigner } from '../../client/signer.ts'
import { tab } from '../browser/storage.ts'

/** A session with signals, by which a page follows it. */
type PageSession = Session & {
  who: ReadonlySignal<Identity | null>
  /** Not null while a request waits for the person to sign again; the page shows a form then. */
  asking: ReadonlySignal<Identity | null>
}

/** Open the session of one page. `restore` finds a signer again without the person, such as an extension. */
export function openPageSession(
  name: string,
  restore: (identity: Identity) => Promise<PageSigner | null>,
): PageSession {
  const who = signal<Identity | null>(null)
  const asking = signal<Identity | null>(null)
  const session = createSession({
    name,
    store: tab,
    origin: location.origin,
    restore,
    onIdentity(identity) {
      who.value = identity
    },
    onAsk(identity) {
      asking.value = identity
    },
  })
  who.value = session.identity()
  return { ...session, who, asking }
}
