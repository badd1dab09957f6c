import type { Database } from '../../db/database.ts'
import type { MemberStore } from '../../relay/member-store.ts'

/** Let these keys (in hex) write to the embedded relay: they take part in payments without an account. */
export async function nameParticipants(
  database: Database<{ members: MemberStore }>,
  pubkeys: Iterable<string>,
): Promise<void> {
  const keys = new Set(pubkeys)
  // A start that changes nothing does not wait for the disk.
  const before = new Set(await database.snapshot((tx) => tx.members.named()))
  if (before.symmetricDifference(keys).size === 0) return
  await database.transact({ roots: ['instance'] }, (tx) => tx.members.setNamed([...keys]))
}
