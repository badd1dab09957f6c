import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** A key before all others in the order of the table. */
const first = new Uint8Array()

export type MemberStore = ReturnType<typeof createMemberStore>

/**
 * Store of the members, who may write to the relay: the manager, merchants (also before their first coupon), their
 * minters, identities, holders of cards and of tokens, and keys that the settings name.
 */
export function createMemberStore(sql: Sql) {
  const find = sql.query<{ member: number }, [Uint8Array, string]>(
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM definitions WHERE owner = ?1)
       OR EXISTS (SELECT 1 FROM merchants WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM minters WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM announcements WHERE owner = ?1)
       OR EXISTS (SELECT 1 FROM shops WHERE owner = ?1)
       OR EXISTS (SELECT 1 FROM accounts WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM cards WHERE holder = ?1 AND deleted_at IS NULL)
       OR EXISTS (SELECT 1 FROM ledger_accounts WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM named_keys WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM facts WHERE name = 'manager' AND value = ?2)
     THEN 1 ELSE 0 END AS member`,
  )

  const drop = sql.query<null, [Uint8Array]>('DELETE FROM named_keys WHERE pubkey >= ?')
  const name = sql.query<null, [Uint8Array]>(
    'INSERT INTO named_keys (pubkey) VALUES (?) ON CONFLICT (pubkey) DO NOTHING',
  )

  const named = sql.query<{ pubkey: Uint8Array }, [Uint8Array]>(
    'SELECT pubkey FROM named_keys WHERE pubkey >= ? ORDER BY pubkey',
  )

  return {
    /** The keys of the settings at the last start, in hex. */
    async named(): Promise<string[]> {
      return (await named.all(first)).map(({ pubkey }) => hexOf(pubkey))
    },

    /** Replace the keys of the settings, in hex. Keys that are no longer named lose their membership. */
    async setNamed(pubkeys: readonly string[]): Promise<void> {
      drop.run(first)
      for (const pubkey of pubkeys) name.run(bytesOf(pubkey))
    },

    async isMember(pubkey: string): Promise<boolean> {
      return (await find.get(bytesOf(pubkey), pubkey))?.member === 1
    },
  }
}
