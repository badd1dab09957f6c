import type { Database as Sqlite } from 'bun:sqlite'
import { Connection } from '../db/connection.ts'

export type MemberStore = ReturnType<typeof createMemberStore>

/**
 * Who belongs to this shop: the manager, its merchants, their minters, identities, holders of cards and of
 * tokens, and keys that the settings name; on one connection.
 */
export function createMemberStore(sql: Sqlite) {
  const find = sql.query<{ member: number }, [Uint8Array]>(
    `SELECT EXISTS (SELECT 1 FROM definitions WHERE owner = ?1)
       OR EXISTS (SELECT 1 FROM minters WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM announcements WHERE owner = ?1)
       OR EXISTS (SELECT 1 FROM accounts WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM cards WHERE holder = ?1 AND deleted_at IS NULL)
       OR EXISTS (SELECT 1 FROM ledger_accounts WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM named_keys WHERE pubkey = ?1)
       OR EXISTS (SELECT 1 FROM facts WHERE name = 'manager' AND value = lower(hex(?1))) AS member`,
  )

  const drop = sql.query<null, []>("DELETE FROM named_keys WHERE pubkey >= x'00'")
  const name = sql.query<null, [Uint8Array]>(
    'INSERT INTO named_keys (pubkey) VALUES (?) ON CONFLICT DO NOTHING',
  )

  const named = sql.query<{ pubkey: Uint8Array }, []>(
    "SELECT pubkey FROM named_keys WHERE pubkey >= x'00' ORDER BY pubkey",
  )

  return {
    /** The keys that the settings named last, in hex. */
    async named(): Promise<string[]> {
      return named.all().map(({ pubkey }) => Buffer.from(pubkey).toString('hex'))
    },

    /** Take over the keys that the settings name, in hex; those of before are nobody's any more. */
    async setNamed(pubkeys: readonly string[]): Promise<void> {
      drop.run()
      for (const pubkey of pubkeys) name.run(Buffer.from(pubkey, 'hex'))
    },

    /** Synchronous: the relay decides before it stores. */
    isMember(pubkey: string): boolean {
      return find.get(Buffer.from(pubkey, 'hex'))?.member === 1
    },
  }
}

/** The members on a connection of their own, for another thread; the coupon database is only read. */
export function openMemberReader(path: string) {
  const connection = new Connection(path, { readonly: true, strict: true })
  connection.run('PRAGMA busy_timeout = 5000')
  return { ...createMemberStore(connection), close: () => connection.close() }
}
