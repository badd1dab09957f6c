import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'
import type { Benefit } from './benefit.ts'
import type { Definition, NewDefinition, Terms } from './definition.ts'
import { createImageStore } from './image-store.ts'
import { hourOf } from './statistics.ts'

type UncountedRow = {
  id: number
  uuid: string
  owner: Uint8Array
  revision_id: number
  max_uses: number | null
  archived_at: number | null
  created_at: number
  updated_at: number
  name: string
  description: string
  image: string | null
  benefit: string
  expires_at: number | null
  rules: string | null
  picture: Uint8Array | null
}
type DefinitionRow = UncountedRow & { issued: number; claimed: number; voided: number }

/** A definition with the row ids and counters that minting and voiding need. */
export type StoredDefinition = Definition & {
  rowId: number
  revisionId: number
  issued: number
  /** Vouchers that were issued, and neither claimed nor voided; expired ones, too. A refresh is no issue. */
  open: number
}

/** A definition without its counters. Reading them costs as much as the rest where they are not columns. */
export type UncountedDefinition = Omit<StoredDefinition, 'issued' | 'open' | 'minted' | 'claimed'>

type Counted = Pick<StoredDefinition, 'rowId' | 'maxUses' | 'archivedAt' | 'expiresAt'>

/** Name, description, image, benefit, expiry, rules and picture of a revision. */
type TermColumns = [
  ...[string, string, string | null, string],
  ...[number | null, string | null, Uint8Array | null],
]

export type DefinitionStore = ReturnType<typeof createDefinitionStore>

/** Store of definitions and of their revisions. A revision holds the terms that vouchers point to. */
export function createDefinitionStore(sql: Sql) {
  const { counters } = sql
  const [issued, claimed, voided] = ['issued', 'claimed', 'voided'].map((name) =>
    counters.number('definitions', name, 'd'),
  )
  const uncounted = `
    d.id, d.uuid, d.owner, d.revision_id, d.max_uses, d.archived_at, d.created_at, d.updated_at,
    r.name, r.description, r.image, r.benefit, r.expires_at, r.rules, r.picture`
  const source = 'FROM definitions d JOIN revisions r ON r.id = d.revision_id'
  const columns = `${uncounted}, ${issued} AS issued, ${claimed} AS claimed, ${voided} AS voided ${source}`
  const find = sql.query<DefinitionRow, [string]>(`SELECT ${columns} WHERE d.uuid = ?`)
  const findUncounted = sql.kept<UncountedRow, [string]>(
    `SELECT ${uncounted} ${source} WHERE d.uuid = ?`,
    ['definitions', 'revisions'],
  )
  /** Rows of `findUncounted` that were read, because one row may be read many times. */
  const known = new WeakMap<UncountedRow, UncountedDefinition>()
  const list = sql.query<DefinitionRow, [Uint8Array]>(
    `SELECT ${columns} WHERE d.owner = ? ORDER BY d.id DESC`,
  )
  // The inner LIMIT bounds the rows that are read. Any merchant may name a key as minter, unasked.
  const listOpen = sql.query<DefinitionRow, [Uint8Array, number, number]>(
    `SELECT ${columns} WHERE d.id IN (
         SELECT id FROM definitions WHERE owner = ?1 AND archived_at IS NULL
         ORDER BY id DESC LIMIT ?3)
       AND (r.expires_at IS NULL OR r.expires_at > ?2)
       AND (d.max_uses IS NULL OR ${issued} - ${voided} < d.max_uses)
     ORDER BY d.id DESC`,
  )
  const merchantsOf = sql.query<{ owner: Uint8Array }, [Uint8Array, number]>(
    'SELECT owner FROM minters WHERE pubkey = ? AND may_mint = 1 ORDER BY id LIMIT ?',
  )
  const count = sql.query<{ n: number }, [Uint8Array]>(
    'SELECT count(*) AS n FROM definitions WHERE owner = ?',
  )
  // Revision 0 stands for none until `addRevision` points to the first one, in the same transaction.
  const insert = sql.query<{ id: number }, [string, Uint8Array, number | null, number, number]>(
    `INSERT INTO definitions (uuid, owner, revision_id, max_uses, created_at, updated_at)
     VALUES (?, ?, 0, ?, ?, ?) RETURNING id`,
  )
  const insertRevision = sql.query<{ id: number }, [number, number, ...TermColumns]>(
    `INSERT INTO revisions
       (definition_id, issued_before, name, description, image, benefit, expires_at, rules, picture)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  )
  // `issued_before` is the counter at the start of the revision. If it has not changed, no voucher points there.
  const rewriteRevision = sql.query<null, [...TermColumns, number, number]>(
    `UPDATE revisions
     SET name = ?, description = ?, image = ?, benefit = ?, expires_at = ?, rules = ?, picture = ?
     WHERE id = ? AND issued_before = ?`,
  )
  const pointTo = sql.query<null, [number, number]>(
    'UPDATE definitions SET revision_id = ? WHERE id = ?',
  )
  const update = sql.query<null, [number | null, number | null, number, number]>(
    'UPDATE definitions SET max_uses = ?, archived_at = ?, updated_at = ? WHERE id = ?',
  )
  // The row itself counts where there is a limit, so that one mint waits for the other.
  const outstanding = counters.number('definitions', 'issued', 'definitions', 'voided')
  const takeLimited = sql.query<null, [number, number]>(
    `UPDATE definitions SET issued = issued + ?1
     WHERE id = ?2 AND ${outstanding} + ?1 <= max_uses`,
  )
  const countIssued = sql.query<null, [number, number]>(
    counters.addToExisting('definitions', { keys: { id: '?2' }, by: { issued: '?1' } }),
  )
  // Counters are kept with the rows that they count, because a count over millions of rows is slow.
  const countTotal = sql.query<null, [number]>(
    counters.addToExisting('totals', { keys: { id: '1' }, by: { issued: '?1' } }),
  )
  const countMinted = sql.query<null, [number, number, number]>(
    counters.add('hourly', { keys: { definition_id: '?1', hour: '?2' }, by: { minted: '?3' } }),
  )
  const countExpiring = sql.query<null, [number, number, number]>(
    counters.add('expiries', {
      keys: { definition_id: '?1', expires_at: '?2' },
      by: { open: '?3' },
    }),
  )
  const deleteRevisions = sql.query<null, [number]>('DELETE FROM revisions WHERE definition_id = ?')
  const deleteDefinition = sql.query<null, [number]>('DELETE FROM definitions WHERE id = ?')

  const imageOf = sql.query<{ image: string | null }, [number]>(
    'SELECT image FROM revisions WHERE id = ?',
  )
  const imagesOf = sql.query<{ image: string }, [number]>(
    'SELECT image FROM revisions WHERE definition_id = ? AND image IS NOT NULL',
  )
  const images = createImageStore(sql)

  const addRevision = async (definitionId: number, issued: number, terms: Terms) => {
    const row = await insertRevision.get(definitionId, issued, ...columnsOf(terms))
    if (!row) throw new Error('the revision was not inserted')
    pointTo.run(row.id, definitionId)
    images.add(terms.image)
  }

  return {
    async find(id: string): Promise<StoredDefinition | null> {
      const row = await find.get(id)
      return row && toDefinition(row)
    },

    async findUncounted(id: string): Promise<UncountedDefinition | null> {
      const row = await findUncounted.get(id)
      if (!row) return null
      let definition = known.get(row)
      if (!definition) {
        definition = toUncounted(row)
        known.set(row, definition)
      }
      return definition
    },

    /** All definitions of an owner, newest first, archived ones included. */
    async list(owner: string): Promise<StoredDefinition[]> {
      return (await list.all(bytesOf(owner))).map(toDefinition)
    },

    /** The mintable ones among the `most` newest unarchived definitions of an owner, newest first. */
    async listMintable(owner: string, now: number, most: number): Promise<StoredDefinition[]> {
      return (await listOpen.all(bytesOf(owner), now, most)).map(toDefinition)
    },

    /** Up to `most` merchants whose coupons a key may mint, in the order in which they did so. */
    async merchantsOf(pubkey: string, most: number): Promise<string[]> {
      const rows = await merchantsOf.all(bytesOf(pubkey), most)
      return rows.map(({ owner }) => hexOf(owner))
    },

    async count(owner: string): Promise<number> {
      return (await count.get(bytesOf(owner)))?.n ?? 0
    },

    async insert(id: string, owner: string, input: NewDefinition, now: number): Promise<void> {
      const row = await insert.get(id, bytesOf(owner), input.maxUses, now, now)
      if (!row) throw new Error('the definition was not inserted')
      await addRevision(row.id, 0, input)
    },

    /** Write an edited definition. Terms that vouchers point to stay; the edit gets a new revision then. */
    async update(edited: StoredDefinition, termsChanged: boolean): Promise<void> {
      update.run(edited.maxUses, edited.archivedAt, edited.updatedAt, edited.rowId)
      if (!termsChanged) return
      const before = await imageOf.get(edited.revisionId)
      const { revisionId, issued } = edited
      const inPlace = await rewriteRevision.changes(...columnsOf(edited), revisionId, issued)
      if (inPlace === 0) return addRevision(edited.rowId, edited.issued, edited)
      images.add(edited.image)
      images.drop(before?.image ?? null)
    },

    /**
     * Count `count` new vouchers of a definition that was read in this transaction, under its root. False if it is
     * archived, expired or has too few remaining. A guarded UPDATE decides, so that parallel requests never pass `maxUses`.
     */
    async take(definition: Counted, count: number, now: number): Promise<boolean> {
      const { rowId, maxUses, archivedAt, expiresAt } = definition
      if (archivedAt !== null || (expiresAt !== null && expiresAt <= now)) return false
      if (maxUses === null) countIssued.run(count, rowId)
      else if ((await takeLimited.changes(count, rowId)) !== 1) return false
      countTotal.run(count)
      countMinted.run(rowId, hourOf(now), count)
      if (expiresAt !== null) countExpiring.run(rowId, expiresAt, count)
      return true
    },

    /** Delete a definition that was never minted, with its revisions and pictures. */
    async delete(rowId: number): Promise<void> {
      const named = await imagesOf.all(rowId)
      deleteRevisions.run(rowId)
      for (const { image } of named) images.drop(image)
      deleteDefinition.run(rowId)
    },
  }
}

function columnsOf(terms: Terms): TermColumns {
  const { name, description, image, benefit, expiresAt, rules, picture } = terms
  const words = [name, description, image, JSON.stringify(benefit)] as const
  const pictureBytes = picture === null ? null : bytesOf(picture)
  return [...words, expiresAt, rules && JSON.stringify(rules), pictureBytes]
}

function toDefinition(row: DefinitionRow): StoredDefinition {
  const { issued, claimed, voided } = row
  return {
    ...toUncounted(row),
    issued,
    open: issued - claimed - voided,
    minted: issued - voided,
    claimed,
  }
}

function toUncounted(row: UncountedRow): UncountedDefinition {
  return {
    rowId: row.id,
    id: row.uuid,
    owner: hexOf(row.owner),
    revisionId: row.revision_id,
    name: row.name,
    description: row.description,
    image: row.image,
    benefit: JSON.parse(row.benefit) as Benefit,
    maxUses: row.max_uses,
    expiresAt: row.expires_at,
    archivedAt: row.archived_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    picture: row.picture && hexOf(row.picture),
    rules: row.rules === null ? null : (JSON.parse(row.rules) as Terms['rules']),
  }
}
