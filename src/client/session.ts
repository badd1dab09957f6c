import { systemClock } from '../base/clock.ts'
import { ApiError } from './api-error.ts'
import { createCaller } from './caller.ts'
import { parseRecord } from './json.ts'
import { signRequest } from './proof.ts'
import { type PageSigner, SignerError, type SignerKind } from './signer.ts'
import type { TextStore } from './texts.ts'

/** The key that is signed in, and how it signs. */
export type Identity = { pubkey: string; kind: SignerKind }

type Kept = Identity & { token: string; expiresAt: number }

/** A session of the HTTP API: one signature opens it, its token authorises requests until it expires. */
export type Session = {
  /** Null while nobody is signed in. */
  identity(): Identity | null
  /** Sign in. Also continues the requests that `onAsk` was called for. Throws ApiError and SignerError. */
  signIn(signer: PageSigner): Promise<void>
  signOut(): void
  /**
   * A valid token. Asks the person for a signature where none is valid; `timeoutMs` is that of the request which then
   * opens a session. Throws ApiError `signed-out`.
   */
  token(timeoutMs?: number): Promise<string>
  /**
   * The token at hand, for a request that does not wait for one; null without. One that is over or ends soon is
   * replaced in the background, where the signer is still here.
   */
  atHand(): string | null
  /** Another token at hand, after the service refused this one; null where only a person can open one. */
  replaceAtHand(refused: string): Promise<string | null>
  /** Another token, after the service refused this one. */
  renew(refused: string, timeoutMs?: number): Promise<string>
  /** The signer. Asks the person for it where this page lost it, such as a PIN key after a reload. */
  needSigner(): Promise<PageSigner>
  /** The signer of the identity, where this page has it without asking anyone. */
  heldSigner(): PageSigner | null
}

type Wiring = {
  /** Name of the token in `store`. */
  name: string
  store: TextStore
  /** The origin of the service, which a proof names. */
  origin: string
  /** A signer that needs no sign-in. */
  signer?: PageSigner
  /** Finds a signer again without the person, such as an extension; null where it needs one. */
  restore: (identity: Identity) => Promise<PageSigner | null>
  onIdentity: (identity: Identity | null) => void
  /** Called with the identity while a request waits for the person to sign again, with null afterwards. */
  onAsk: (identity: Identity | null) => void
}

/** A session that ends sooner is replaced while it still serves. */
const quietSeconds = 3600

export function createSession(wiring: Wiring): Session {
  const { name, store, origin, restore, onIdentity, onAsk } = wiring
  const caller = createCaller({
    url: origin,
    credentials: null,
    storage: new Map(),
    patience: null,
  })
  let kept = parseKept(store.read(name))
  let signer: PageSigner | null = wiring.signer ?? null
  const first = kept ?? signer
  let identity: Identity | null = first && { pubkey: first.pubkey, kind: first.kind }
  let renewing: Promise<string> | null = null
  let answer: ((signer: PageSigner | null) => void) | null = null

  const identify = (next: Identity | null) => {
    identity = next
    onIdentity(next)
  }

  const open = async (chosen: PageSigner, timeoutMs?: number) => {
    const url = `${origin}/api/auth/session`
    const Authorization = await signRequest(chosen, { url, method: 'POST', body: null })
    const opened = await caller.call('POST /api/auth/session', {
      headers: { Authorization },
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    signer = chosen
    kept = { ...opened, kind: chosen.kind }
    store.write(name, JSON.stringify(kept))
    if (identity?.pubkey !== opened.pubkey || identity.kind !== chosen.kind) {
      identify({ pubkey: opened.pubkey, kind: chosen.kind })
    }
    return opened.token
  }

  const forget = () => {
    signer?.close?.()
    signer = null
    kept = null
    store.remove(name)
    identify(null)
  }

  const needSigner = async (): Promise<PageSigner> => {
    const asked = identity
    if (!asked) throw new ApiError('signed-out')
    signer ??= await restore(asked)
    if (signer) return signer
    // The request waits for the answer: a page keeps its forms meanwhile.
    const { promise, resolve } = Promise.withResolvers<PageSigner | null>()
    answer?.(null)
    answer = resolve
    onAsk(asked)
    const given = await promise
    if (!given) throw new ApiError('signed-out')
    return given
  }

  const obtain = async (timeoutMs?: number) => {
    const given = await needSigner()
    // The sign-in that answered the question has opened a session already.
    return kept && kept.expiresAt > systemClock() ? kept.token : open(given, timeoutMs)
  }

  // Requests that need a token at the same time share one signature.
  const obtainOnce = (timeoutMs?: number) => {
    renewing ??= obtain(timeoutMs).finally(() => {
      renewing = null
    })
    return renewing
  }

  /** Open another session without the person. Where that fails, the next request tries it again. */
  const replaceQuietly = async () => {
    if (signer === null || renewing !== null) return
    try {
      renewing = open(signer).finally(() => {
        renewing = null
      })
      await renewing
    } catch (cause) {
      if (!(cause instanceof ApiError) && !(cause instanceof SignerError)) throw cause
    }
  }

  return {
    identity: () => identity,
    atHand() {
      const left = kept ? kept.expiresAt - systemClock() : 0
      // An extension or another device may ask its person, who is busy with a customer.
      if (left < quietSeconds && signer?.kind === 'local') void replaceQuietly()
      return kept && left > 0 ? kept.token : null
    },
    async replaceAtHand(refused) {
      if (kept?.token === refused) {
        kept = null
        if (signer?.kind === 'local') await replaceQuietly()
      }
      return kept?.token ?? null
    },
    needSigner,
    heldSigner: () => signer,
    async signIn(chosen) {
      await open(chosen)
      onAsk(null)
      answer?.(chosen)
      answer = null
    },
    signOut() {
      forget()
      onAsk(null)
      answer?.(null)
      answer = null
    },
    async token(timeoutMs) {
      if (kept && kept.expiresAt > systemClock() + 5) return kept.token
      return obtainOnce(timeoutMs)
    },
    renew(refused, timeoutMs) {
      if (kept && kept.token !== refused) return Promise.resolve(kept.token)
      kept = null
      return obtainOnce(timeoutMs)
    },
  }
}

function parseKept(text: string | null): Kept | null {
  const kept = parseRecord(text, 'pubkey', 'kind', 'token') as Kept | null
  return kept && kept.expiresAt > systemClock() ? kept : null
}
