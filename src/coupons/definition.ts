import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { isPlainName, isPlainText } from '../base/words.ts'
import { type Benefit, parseBenefit } from './benefit.ts'
import { parseText } from './text.ts'

/** What a voucher promises, frozen at mint. */
export type Terms = {
  name: string
  description: string
  image: string | null
  benefit: Benefit
  /** Unix seconds; null: never. */
  expiresAt: number | null
}

export type NewDefinition = Terms & { maxUses: number | null }

/** What a merchant authored; the counters as the wire shows them. */
export type Definition = Terms & {
  id: string
  owner: string
  maxUses: number | null
  /** Issued and not voided. */
  minted: number
  claimed: number
  archivedAt: number | null
  createdAt: number
  updatedAt: number
}

export type DefinitionChanges = Partial<NewDefinition> & { archived?: boolean }

type Fields = Record<string, unknown>

/** Read a new definition; `expiresAt` must lie ahead of `now`. */
export function parseNewDefinition(fields: Fields, now: number): NewDefinition {
  const expiresAt = parseExpiry(fields.expiresAt)
  if (expiresAt !== null && expiresAt <= now)
    throw new Refusal('expiry-past', { field: 'expiresAt' })
  const terms = parseTerms(fields)
  requirePlain(terms)
  return { ...terms, maxUses: parseMaxUses(fields.maxUses) }
}

/** What a definition or a voucher promises; refuses `field-invalid` and `benefit-invalid`. */
export function parseTerms(fields: Fields): Terms {
  return {
    name: parseName(fields.name),
    description: parseDescription(fields.description),
    image: parseImage(fields.image),
    benefit: parseBenefit(fields.benefit),
    expiresAt: parseExpiry(fields.expiresAt),
  }
}

/** Read an edit: only what is there changes, null clears. */
export function parseChanges(fields: Fields): DefinitionChanges {
  const changes: DefinitionChanges = {}
  if (fields.name !== undefined) changes.name = parseName(fields.name)
  if (fields.description !== undefined) changes.description = parseDescription(fields.description)
  if (fields.image !== undefined) changes.image = parseImage(fields.image)
  if (fields.benefit !== undefined) changes.benefit = parseBenefit(fields.benefit)
  if (fields.maxUses !== undefined) changes.maxUses = parseMaxUses(fields.maxUses)
  if (fields.expiresAt !== undefined) changes.expiresAt = parseExpiry(fields.expiresAt)
  if (fields.archived !== undefined) {
    if (typeof fields.archived !== 'boolean')
      throw new Refusal('field-invalid', { field: 'archived' })
    changes.archived = fields.archived
  }
  if (Object.keys(changes).length === 0) throw new Refusal('nothing-to-change')
  requirePlain(changes)
  return changes
}

/** The definition on the wire. */
export function definitionView(definition: Definition) {
  return {
    id: definition.id,
    name: definition.name,
    description: definition.description,
    image: definition.image,
    benefit: definition.benefit,
    maxUses: definition.maxUses,
    minted: definition.minted,
    claimed: definition.claimed,
    expiresAt: definition.expiresAt,
    archivedAt: definition.archivedAt,
    createdAt: definition.createdAt,
    updatedAt: definition.updatedAt,
  }
}

function parseName(value: unknown): string {
  const name = parseText(value, { field: 'name', charsMin: 1, charsMax: limits.nameCharsMax })
  if (name.trim() === '') throw new Refusal('field-invalid', { field: 'name' })
  return name
}

/** Checks words that are authored now; a voucher keeps the words that it was minted with. Refuses `field-invalid`. */
function requirePlain({ name, description }: Partial<Terms>): void {
  if (name !== undefined && !isPlainName(name))
    throw new Refusal('field-invalid', { field: 'name' })
  if (description !== undefined && !isPlainText(description)) {
    throw new Refusal('field-invalid', { field: 'description' })
  }
}

function parseDescription(value: unknown): string {
  if (value === undefined || value === null) return ''
  return parseText(value, {
    field: 'description',
    charsMax: limits.descriptionCharsMax,
    lines: true,
  })
}

function parseImage(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const image = parseText(value, { field: 'image', charsMin: 1, charsMax: limits.imageCharsMax })
  const url = URL.parse(image)
  // The parser forgives white space; whoever shows the image may not.
  if (
    /\s/.test(image) ||
    url?.protocol !== 'https:' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new Refusal('field-invalid', { field: 'image' })
  }
  return image
}

function parseMaxUses(value: unknown): number | null {
  if (value === undefined || value === null) return null
  return parseInteger(value, 'maxUses', 1, limits.maxUsesMax)
}

function parseExpiry(value: unknown): number | null {
  if (value === undefined || value === null) return null
  return parseInteger(value, 'expiresAt', 1, limits.timestampMax)
}

function parseInteger(value: unknown, field: string, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new Refusal('field-invalid', { field })
  }
  return value
}
