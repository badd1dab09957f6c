import { randomBytes } from 'node:crypto'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createSigner } from '../../src/crypto/sign-event.ts'
import { delegationHash } from '../../src/nostr/delegation.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { createKeyDerivation } from '../../src/wallet/cards/tag.ts'
import { createTap } from '../../src/wallet/cards/tap.ts'
import { type Answer, type CallOptions, call, type Json } from './client.ts'
import { secondsNow } from './clock.ts'
import { createEvent } from './events.ts'
import type { TestServer } from './server.ts'

const schnorr = openSchnorr()

/** Keys of a service whose cards tests can write: pass `cardEnv` to it. */
export const managerSecret = '7'.repeat(64)
export const masterKey = '000102030405060708090a0b0c0d0e0f'
export const manager = createSigner(schnorr, managerSecret)
export const cardEnv = {
  COUPON_MANAGER_NSEC: managerSecret,
  CARD_MASTER_KEY: masterKey,
  GATEWAY_PUBKEY: 'ab'.repeat(32),
  TOKENS: `PESO:2:${manager.pubkey},BTC:0:${manager.pubkey}`,
}

/** A key pair whose secret is known, for delegations. */
export type Holder = Signer & { secret: Uint8Array }

export function newHolder(secret: Uint8Array = randomBytes(32)): Holder {
  return { ...createSigner(schnorr, secret), secret }
}

export function newUid(): string {
  return `04${randomBytes(6).toString('hex')}`
}

/** The tap of a tag with this UID: the path of its address. */
export function tapQuery(uid: string, counter: number, version = 1, key = masterKey): string {
  const keys = createKeyDerivation(Uint8Array.fromHex(key))
  const bytes = Uint8Array.fromHex(uid)
  const { p, c } = createTap({ uid: bytes, counter }, keys.keysOf(bytes, version), randomBytes(5))
  return `p=${p}&c=${c}`
}

export function scanPath(uid: string, counter: number, version = 1): string {
  return `/card/scan?${tapQuery(uid, counter, version)}`
}

/** The headers that ask for more than LUD-03. */
export function asking(action: string, more = ''): CallOptions {
  return {
    headers: {
      'X-LaWallet-Action': action,
      'X-LaWallet-Param': `federationId=localhost${more}`,
    },
  }
}

/** A request event to the manager. */
export function cardEvent(
  type: string,
  content: unknown,
  parts: { signer?: Signer; kind?: number; createdAt?: number; tags?: string[][] } = {},
): NostrEvent {
  const { tags = [], ...rest } = parts
  return createEvent({
    kind: 21_111,
    signer: manager,
    ...rest,
    // Makes the event differ from any other of the same second.
    tags: [['p', manager.pubkey], ['t', type], ['nonce', crypto.randomUUID()], ...tags],
    content: typeof content === 'string' ? content : JSON.stringify(content),
  })
}

/** A delegation (NIP-26) of a holder to the manager. */
export function delegationOf(
  holder: Holder,
  conditions = `kind=1112&created_at>${secondsNow() - 60}&created_at<${secondsNow() + 86_400}`,
  delegatee = manager.pubkey,
) {
  const hash = Uint8Array.fromHex(delegationHash(delegatee, conditions))
  return { conditions, token: schnorr.keypair(holder.secret).sign(hash).toHex() }
}

/** The tag of an event that `delegatee` signs for a holder. */
export function delegationTag(
  holder: Holder,
  delegatee: Signer = manager,
  conditions?: string,
): string[] {
  const delegation = delegationOf(holder, conditions, delegatee.pubkey)
  return ['delegation', holder.pubkey, delegation.conditions, delegation.token]
}

export const contentOf = (answer: Answer): Json => JSON.parse(answer.json.content)

/** POST /ntag424 for a tag; what its answer says. */
export async function initCard(server: TestServer, uid: string, more: object = {}): Promise<Json> {
  const body = cardEvent('card-init-request', { cid: uid, ...more })
  return contentOf(await call(server.url, '/ntag424', { body }))
}

/** POST /card. */
export function activateCard(
  server: TestServer,
  holder: Holder,
  otc: string,
  delegation: object = delegationOf(holder),
): Promise<Answer> {
  const body = cardEvent('card-activation-request', { otc, delegation }, { signer: holder })
  return call(server.url, '/card', { body })
}

/** A tag that was written and activated, not yet tapped. */
export async function newCard(server: TestServer, holder: Holder = newHolder()) {
  const uid = newUid()
  const { otc } = await initCard(server, uid)
  const { uuid } = contentOf(await activateCard(server, holder, otc))
  return { uid, uuid: uuid as string, holder, otc: otc as string }
}
