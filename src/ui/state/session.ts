import { type ReadonlySignal, signal } from '@preact/signals'
import { type Caller, createCaller } from '../../client/caller.ts'
import { createSession, type Identity, type Session } from '../../client/session.ts'
import type { PageSigner } from '../../client/signer.ts'
import { tab } from '../browser/storage.ts'

/** A session with its calls, and signals by which a page follows it. */
type PageSession = Session &
  Caller & {
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
  const caller = createCaller({
    url: location.origin,
    credentials: session,
    // Of a tab, since two of them may each want one more voucher.
    storage: { get: tab.read, set: tab.write, delete: tab.remove },
    // A page shows a failure to its person, who asks again.
    patience: null,
  })
  return { ...session, ...caller, who, asking }
}
