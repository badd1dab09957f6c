import { type ReadonlySignal, signal } from '@preact/signals'
import { request } from './api.ts'
import { ApiError } from './api-error.ts'
import { secondsNow } from './format.ts'
import { parseRecord } from './json.ts'
import { proofOf } from './proof.ts'
import type { PageSigner, SignerKind } from './signer.ts'
import { tab } from './storage.ts'

/** Who is signed in, and how they sign. */
export type Identity = { pubkey: string; kind: SignerKind }

type Kept = Identity & { token: string; expiresAt: number }

/** One signature, then a token for as long as it holds. */
export type Session = {
  who: ReadonlySignal<Identity | null>
  /** Not null while a request waits for the person to sign again; the page shows how. */
  asking: ReadonlySignal<Identity | null>
  /** The signer, where this tab still has it. */
  signer: () => PageSigner | null
  /** Sign in; also the answer to `asking`. Throws ApiError. */
  signIn(signer: PageSigner): Promise<void>
  signOut(): void
  /** A token to send; asks for a signature where there is none. */
  token(): Promise<string>
  /** Another token, after this one was refused. */
  renew(refused: string): Promise<string>
  /** The signer, asked for where this tab has lost it. */
  needSigner(): Promise<PageSigner>
}

/** The session of one page; `restore` finds a signer again that needs no person, such as an extension. */
export function createSession(
  name: string,
  restore: (identity: Identity) => Promise<PageSigner | null>,
): Session {
  let kept = parseKept(tab.read(name))
  let signer: PageSigner | null = null
  let renewing: Promise<string> | null = null
  let answer: ((signer: PageSigner | null) => void) | null = null
  const who = signal<Identity | null>(kept && { pubkey: kept.pubkey, kind: kept.kind })
  const asking = signal<Identity | null>(null)

  const open = async (chosen: PageSigner) => {
    const path = '/api/auth/session'
    const body = '{}'
    const headers = { Authorization: await proofOf(chosen, path, body) }
    type Opened = { token: string; pubkey: string; expiresAt: number }
    const opened = await request<Opened>(path, { body, headers })
    signer = chosen
    kept = { ...opened, kind: chosen.kind }
    tab.write(name, JSON.stringify(kept))
    const known = who.peek()
    if (known?.pubkey !== opened.pubkey || known.kind !== chosen.kind) {
      who.value = { pubkey: opened.pubkey, kind: chosen.kind }
    }
    return opened.token
  }

  const forget = () => {
    signer?.close?.()
    signer = null
    kept = null
    tab.remove(name)
    who.value = null
  }

  const needSigner = async (): Promise<PageSigner> => {
    const identity = who.peek()
    if (!identity) throw new ApiError('signed-out')
    signer ??= await restore(identity)
    if (signer) return signer
    // What was typed stays where it is: the request waits behind the question.
    const { promise, resolve } = Promise.withResolvers<PageSigner | null>()
    answer?.(null)
    answer = resolve
    asking.value = identity
    const given = await promise
    if (!given) throw new ApiError('signed-out')
    return given
  }

  const obtain = async () => {
    const given = await needSigner()
    // Given in answer to a question, it has just opened one.
    return kept && kept.expiresAt > secondsNow() ? kept.token : open(given)
  }

  return {
    who,
    asking,
    signer: () => signer,
    needSigner,
    async signIn(chosen) {
      await open(chosen)
      asking.value = null
      answer?.(chosen)
      answer = null
    },
    signOut() {
      forget()
      asking.value = null
      answer?.(null)
      answer = null
    },
    async token() {
      if (kept && kept.expiresAt > secondsNow() + 5) return kept.token
      renewing ??= obtain().finally(() => {
        renewing = null
      })
      return renewing
    },
    renew(refused) {
      if (kept && kept.token !== refused) return Promise.resolve(kept.token)
      kept = null
      renewing ??= obtain().finally(() => {
        renewing = null
      })
      return renewing
    },
  }
}

function parseKept(text: string | null): Kept | null {
  const kept = parseRecord(text, 'pubkey', 'kind', 'token') as Kept | null
  return kept && kept.expiresAt > secondsNow() ? kept : null
}
