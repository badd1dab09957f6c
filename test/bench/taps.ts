import { Database as Sqlite } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sealDelegation } from '../../src/wallet/cards/delegation.ts'
import { createKeyDerivation } from '../../src/wallet/cards/tag.ts'
import { createTap } from '../../src/wallet/cards/tap.ts'
import { secondsNow } from '../support/clock.ts'
import { benchKeys } from './fixture.ts'
import { benchDelegation } from './payments.ts'

/** Enough that no card is tapped again before the answer to its last tap: those in flight overtake each other. */
const cards = 2000
const derivation = createKeyDerivation(Uint8Array.fromHex(benchKeys.CARD_MASTER_KEY))
const keys = Array.from({ length: cards }, (_, at) => derivation.keysOf(uidOf(at), 1))
/** No tap of a run before is like one of this. */
let made = 0

/** Give a running server the bench's cards; that many taps of them that nobody saw before. */
export function freshTaps(dataDir: string, count: number) {
  const sql = new Sqlite(join(dataDir, 'cuponera.db'), { strict: true })
  sql.run('PRAGMA busy_timeout = 5000')
  const now = secondsNow()
  const delegation = benchDelegation()
  const holder = Buffer.from(delegation.holder, 'hex')
  const insert = sql.query(
    `INSERT INTO cards (uuid, cid, key_version, counter, design_uuid, design_name, name,
       holder, delegation, created_at, activated_at)
     VALUES (?1, ?2, 1, 0, ?1, '', '', ?3, ?4, ?5, ?5) ON CONFLICT DO NOTHING`,
  )
  sql.transaction(() => {
    for (let at = 0; at < cards; at++) {
      const uuid = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
      const who = { uuid, holder: delegation.holder }
      const sealed = sealDelegation(Uint8Array.fromHex(benchKeys.STORE_KEY), who, delegation)
      insert.run(uuid, uidOf(at), holder, sealed, now)
    }
  })()
  sql.close()
  const first = made
  made += count
  return { from: 'taps', first, count } as const
}

/** The queries that these taps open. */
export function tapsOf({ first, count }: { first: number; count: number }): string[] {
  return Array.from({ length: count }, (_, index) => {
    const at = (first + index) % cards
    const counter = 1 + Math.floor((first + index) / cards)
    const { k1, k2 } = keys[at] as (typeof keys)[number]
    const { p, c } = createTap({ uid: uidOf(at), counter }, { k1, k2 }, randomBytes(5))
    return `p=${p}&c=${c}`
  })
}

function uidOf(at: number): Uint8Array {
  return Uint8Array.fromHex(`04${at.toString(16).padStart(12, '0')}`)
}
