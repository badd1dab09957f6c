import { Database as Sqlite } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { createSigner } from '../../src/crypto/sign-event.ts'
import { delegationHash } from '../../src/nostr/delegation.ts'
import { sealDelegation } from '../../src/wallet/cards/delegation.ts'
import { k1HashOf } from '../../src/wallet/cards/scan-store.ts'
import { secondsNow } from '../support/clock.ts'
import { benchKeys } from './fixture.ts'

const schnorr = openSchnorr()
const manager = createSigner(schnorr, benchKeys.COUPON_MANAGER_NSEC)
const holder = createSigner(schnorr, benchKeys.holder)
const till = createSigner(schnorr, benchKeys.till)
const card = { id: 1, uuid: '01a1fe3c-1c2d-7e3f-8a4b-5c6d7e8f9a0b' }
/** No payment of a run before is like one of this. */
let made = 0

/** A delegation (NIP-26) of the bench's card. */
export function benchDelegation() {
  const now = secondsNow()
  const conditions = `kind=1112&created_at>${now - 60}&created_at<${now + 86_400}`
  const hash = Uint8Array.fromHex(delegationHash(manager.pubkey, conditions))
  const secret = Uint8Array.fromHex(benchKeys.holder)
  return { holder: holder.pubkey, conditions, token: schnorr.keypair(secret).sign(hash).toHex() }
}

/** Give a running server taps of one card that nobody has paid with yet; the first of their numbers. */
function addTaps(dataDir: string, count: number): number {
  const first = made
  made += count
  const sql = new Sqlite(join(dataDir, 'cuponera.db'), { strict: true })
  sql.run('PRAGMA busy_timeout = 5000')
  const now = secondsNow()
  const key = Buffer.from(holder.pubkey, 'hex')
  const who = { uuid: card.uuid, holder: holder.pubkey }
  const sealed = sealDelegation(Uint8Array.fromHex(benchKeys.STORE_KEY), who, benchDelegation())
  sql.transaction(() => {
    sql
      .query(
        `INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name,
           holder, delegation, created_at, activated_at)
         VALUES (?, ?, zeroblob(7), 1, 1, ?2, '', '', ?, ?, ?, ?5) ON CONFLICT DO NOTHING`,
      )
      .run(card.id, card.uuid, key, sealed, now)
    const insert = sql.query(
      `INSERT INTO card_scans (k1_hash, card_id, holder, form, maxima, created_at, expires_at)
       VALUES (?, ?, ?, 'extended', '{}', ?, ?)`,
    )
    for (let at = first; at < made; at++) {
      insert.run(k1HashOf(k1At(at)), card.id, key, now, now + 3600)
    }
  })()
  sql.close()
  return first
}

/** As the requests of that many payments to a running server that nobody made before. */
export function freshPayments(dataDir: string, count: number) {
  return { from: 'payments', first: addTaps(dataDir, count), count } as const
}

/** The requests of a till for these taps, signed. */
export function paymentsOf({ first, count }: { first: number; count: number }): string[] {
  return Array.from({ length: count }, (_, at) => {
    const content = { k1: k1At(first + at), npub: till.pubkey, tokens: { PESO: 1 } }
    return JSON.stringify(
      till.sign({
        kind: 21_111,
        created_at: secondsNow(),
        tags: [['p', manager.pubkey]],
        content: JSON.stringify(content),
      }),
    )
  })
}

function k1At(index: number): string {
  const digest = createHash('sha256').update(`bench tap ${index}`).digest()
  return digest.subarray(0, 16).toString('base64url')
}
