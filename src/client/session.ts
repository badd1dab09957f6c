import { systemClock } from '../base/clock.ts'
import { ApiError } from './api-error.ts'
import { createCaller } from './caller.ts'
import type { Operations } from './described/operations.ts'
import { parseRecord } from './json.ts'
import { createPauses } from './pause.ts'
import { signRequest } from './proof.ts'
import type { PageSigner, SignerKind } from './signer.ts'
import type { TextStore } from './texts.ts'

/** The key that is signed in, and how it signs. */
export type Identity = { pubkey: string; kind: SignerKind }

type Opened = Operations['POST /api/auth/session']['answer']

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
  /** A token for a request that may go without: one at hand, or one that a signer here opens at once; else null. */
  soon(timeoutMs?: number): Promise<string | null>
  /** Another token, after the service refused this one, or needs one. */
  renew(refused: string | null, timeoutMs?: number): Promise<string>
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

/** A request that may go without a token waits so long for one. */
const soonSeconds = 2

/** After a session could not be opened, requests that may go without one ask for none for so long. */
const restSeconds = 60

/** A proof whose answer was lost is sent again for so long, since each signature may ask a person. It holds for 60. */
const proofSeconds = 40

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
  let unused: { signer: PageSigner; proof: string; at: number } | null = null
  let restsUntil = 0
  let answer: ((signer: PageSigner | null) => void) | null = null

  const identify = (next: Identity | null) => {
    identity = next
    onIdentity(next)
  }

  /** Trade a signature for a session. */
  const trade = async (chosen: PageSigner, timeoutMs?: number): Promise<Opened> => {
    const again = unused?.signer === chosen && systemClock() - unused.at < proofSeconds
    // The service counts from the time in the proof, and a person may take a minute to sign it.
    const at = again && unused ? unused.at : systemClock()
    const proof = again && unused ? unused.proof : await signFor(chosen)
    unused = { signer: chosen, proof, at }
    try {
      const opened = await caller.call('POST /api/auth/session', {
        headers: { Authorization: proof },
        ...(timeoutMs !== undefined && { timeoutMs }),
      })
      unused = null
      return opened
    } catch (cause) {
      const replayed = cause instanceof ApiError && cause.code === 'auth-replay'
      if (!(cause instanceof ApiError) || !cause.lost || replayed) unused = null
      // The service took it before, and that answer was lost; or its clock is ahead, and the proof too old.
      const expired = cause instanceof ApiError && cause.code === 'auth-expired'
      if (again && (replayed || expired)) return trade(chosen, timeoutMs)
      throw cause
    }
  }

  const signFor = (chosen: PageSigner) =>
    signRequest(chosen, { url: `${origin}/api/auth/session`, method: 'POST', body: null })

  const open = async (chosen: PageSigner, timeoutMs?: number) => {
    const opened = await trade(chosen, timeoutMs)
    signer = chosen
    restsUntil = 0
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

  const atHand = () => {
    const left = kept ? kept.expiresAt - systemClock() : 0
    // An extension or another device may ask its person, who is busy with a customer.
    if (left < quietSeconds && signer?.kind === 'local' && !rests()) void replaceQuietly()
    return kept && left > 0 ? kept.token : null
  }

  /** Whether the last session that could not be opened is a short time ago. */
  const rests = () => {
    const rest = restsUntil - systemClock()
    // More is left where the clock was set back meanwhile.
    return rest > 0 && rest <= restSeconds
  }

  /** Open another session without the person, or wait for the one that is being opened. */
  const replaceQuietly = async () => {
    if (signer === null) return
    renewing ??= open(signer).finally(() => {
      renewing = null
    })
    await quiet(renewing)
  }

  /** The token; null where none can be opened now. */
  const quiet = async (opened: Promise<string>): Promise<string | null> => {
    try {
      return await opened
    } catch {
      // Nobody may wait for it: any error that left here would end a program.
      restsUntil = systemClock() + restSeconds
      return null
    }
  }

  return {
    identity: () => identity,
    atHand,
    async soon(timeoutMs) {
      if (kept && kept.expiresAt > systemClock()) return atHand()
      if (signer?.kind !== 'local' || renewing !== null || rests()) return null
      const opened = quiet(obtainOnce(timeoutMs))
      const { pause, wake } = createPauses()
      const token = await Promise.race([opened, pause(soonSeconds)])
      wake()
      return token ?? null
    },
    async replaceAtHand(refused) {
      if (kept?.token === refused) {
        kept = null
        // The service is there, so this does not rest.
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
