import type { Static } from '@sinclair/typebox'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Cutoffs } from './cutoffs.ts'
import type { SessionModel } from './models.ts'

/** The answer of `POST /api/auth/session`. */
export type Session = Static<typeof SessionModel>

/** Bearer sessions: HS256 JWTs with `sub`, `iat` and `exp`. Nothing of them is stored. */
export type Sessions = {
  create(pubkey: string): Promise<Session>
  /** Verify a token. Refuses `auth-session-expired`, `auth-session-invalid`, and with what `requireCutoffs` does. */
  verify(token: string): Promise<VerifiedSession>
  /** The begin of a session that is opened now, after every cut-off of the key. Unix seconds. */
  beginsAt(pubkey: string): number
  /** Refuses `auth-session-expired` for a session that was ended after it was verified. */
  requireOpen(session: Pick<VerifiedSession, 'pubkey' | 'beganAt'>): void
}

export type VerifiedSession = Omit<Session, 'token'> & {
  /** Unix seconds. */
  beganAt: number
}

const algorithm = 'HS256'
const hex32 = /^[0-9a-f]{64}$/

/** `requireCutoffs` refuses while a cut-off of another node may be unknown here. */
export function createSessions(
  secret: string,
  now: Clock,
  cutoffs: Cutoffs,
  requireCutoffs: () => Promise<void> = async () => undefined,
): Sessions {
  const key = new TextEncoder().encode(secret)
  // A cache, because verifying a JWT costs more than a native signature check, and a till sends one token all day.
  const verified = new Map<string, VerifiedSession>()

  return {
    async create(pubkey) {
      const issuedAt = beginsAt(pubkey)
      const expiresAt = issuedAt + limits.sessionSeconds
      const token = await new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
        .setSubject(pubkey)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key)
      return { token, pubkey, expiresAt }
    },

    beginsAt,
    requireOpen,

    async verify(token) {
      await requireCutoffs()
      const known = verified.get(token)
      if (known) return open(known)
      const session = await read(token, key)
      if (verified.size >= limits.sessionCacheMax) {
        const [oldest] = verified.keys()
        if (oldest !== undefined) verified.delete(oldest)
      }
      verified.set(token, session)
      return open(session)
    },
  }

  function beginsAt(pubkey: string): number {
    return Math.max(now(), cutoffs.endedAt(pubkey) + 1)
  }

  function requireOpen({ pubkey, beganAt }: Pick<VerifiedSession, 'pubkey' | 'beganAt'>): void {
    if (beganAt <= cutoffs.endedAt(pubkey)) throw new Refusal('auth-session-expired')
  }

  function open(session: VerifiedSession): VerifiedSession {
    if (session.expiresAt <= now()) throw new Refusal('auth-session-expired')
    requireOpen(session)
    return session
  }
}

/** Verify the signature. The expiry is compared with our own clock later. */
async function read(token: string, key: Uint8Array): Promise<VerifiedSession> {
  try {
    // jose parses the JSON of the token itself. The limit of the Authorization header, 8 KiB, bounds it.
    // The epoch as current date disables the expiry check of jose.
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      currentDate: new Date(0),
      requiredClaims: ['sub', 'exp'],
    })
    const { sub, iat, exp } = payload
    if (sub !== undefined && hex32.test(sub) && exp !== undefined) {
      return { pubkey: sub, beganAt: iat ?? exp - limits.sessionSeconds, expiresAt: exp }
    }
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError)) throw cause
  }
  throw new Refusal('auth-session-invalid')
}
