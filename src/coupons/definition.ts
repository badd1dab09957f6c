import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { isPlainName, isPlainText } from '../base/words.ts'
import { isPictureHash } from '../pictures/address.ts'
import { type Benefit, parseBenefit } from './benefit.ts'
import { parseRules, type Rules } from './rules.ts'
import { parseText } from './text.ts'

/** The terms that the vouchers of every service have. */
export type CommonTerms = {
  name: string
  description: string
  image: string | null
  benefit: Benefit
  /** Unix seconds. Null if it never expires. */
  expiresAt: number | null
}

/** The promise of a voucher. It is frozen when the voucher is minted. */
export type Terms = CommonTerms & {
  rules: Rules | null
  /** The uploaded picture (sha256, hex). `image` is its https address then, or null without one. */
  picture: string | null
}

/** Fields of a new definition. `maxUses` is null without a limit. */
export type NewDefinition = Terms & { maxUses: number | null }

/** A coupon that a merchant authored, with its counters. Times in Unix seconds. */
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

/** Fields of an edit. Absent ones do not change. */
export type DefinitionChanges = Partial<NewDefinition> & { archived?: boolean }

type Fields = Record<string, unknown>

/** Read a new definition. Refuses `expiry-past`, `field-invalid`, `benefit-invalid`. */
export function parseNewDefinition(fields: Fields, now: number): NewDefinition {
  const expiresAt = parseExpiry(fields.expiresAt)
  // Only a new definition is checked against the clock. An edit may end a coupon at once.
  if (expiresAt !== null && expiresAt <= now)
    throw new Refusal('expiry-past', { field: 'expiresAt' })
  const added = { rules: parseRules(fields.rules), picture: parsePicture(fields.picture) }
  const terms = { ...parseTerms(fields), ...added }
  requirePlain(terms)
  requireStartFirst(terms, 'rules.startsAt')
  return { ...terms, maxUses: parseMaxUses(fields.maxUses) }
}

/** Read the terms of a definition, or of another service's voucher. Refuses `field-invalid`, `benefit-invalid`. */
export function parseTerms(fields: Fields): CommonTerms {
  return {
    name: parseName(fields.name),
    description: parseDescription(fields.description),
    image: parseImage(fields.image),
    benefit: parseBenefit(fields.benefit),
    expiresAt: parseExpiry(fields.expiresAt),
  }
}

/** Read an edit. Absent fields stay, null clears. Refuses `nothing-to-change`, `field-invalid`, `benefit-invalid`. */
export function parseChanges(fields: Fields): DefinitionChanges {
  const changes: DefinitionChanges = {}
  if (fields.name !== undefined) changes.name = parseName(fields.name)
  if (fields.description !== undefined) changes.description = parseDescription(fields.description)
  if (fields.image !== undefined) changes.image = parseImage(fields.image)
  if (fields.benefit !== undefined) changes.benefit = parseBenefit(fields.benefit)
  if (fields.maxUses !== undefined) changes.maxUses = parseMaxUses(fields.maxUses)
  if (fields.expiresAt !== undefined) changes.expiresAt = parseExpiry(fields.expiresAt)
  if (fields.rules !== undefined) changes.rules = parseRules(fields.rules)
  if (fields.picture !== undefined) changes.picture = parsePicture(fields.picture)
  if (fields.archived !== undefined) {
    if (typeof fields.archived !== 'boolean')
      throw new Refusal('field-invalid', { field: 'archived' })
    changes.archived = fields.archived
  }
  if (Object.keys(changes).length === 0) throw new Refusal('nothing-to-change')
  requirePlain(changes)
  return changes
}

/** Refuse terms that expire before they start (`field-invalid`). `field` is the one that was sent. */
export function requireStartFirst(
  { rules, expiresAt }: Pick<Terms, 'rules' | 'expiresAt'>,
  field: string,
) {
  const startsAt = rules?.startsAt
  if (startsAt !== undefined && expiresAt !== null && startsAt >= expiresAt) {
    throw new Refusal('field-invalid', { field })
  }
}

/** The keys `rules` and `picture` of an answer. A coupon without one has no such key. */
export function addedView({ rules, picture }: Pick<Terms, 'rules' | 'picture'>) {
  return { ...(rules && { rules }), ...(picture !== null && { picture }) }
}

/** The definition as the wire shows it. */
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
    ...addedView(definition),
  }
}

function parseName(value: unknown): string {
  const name = parseText(value, { field: 'name', charsMin: 1, charsMax: limits.nameCharsMax })
  if (name.trim() === '') throw new Refusal('field-invalid', { field: 'name' })
  return name
}

/**
 * Refuse text that hides or reorders characters (`field-invalid`). Only new text is checked: an older voucher
 * keeps the text that it was minted with.
 */
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
  // The URL parser ignores white space, but other software that shows the image may not.
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

function parsePicture(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (!isPictureHash(value)) throw new Refusal('field-invalid', { field: 'picture' })
  return value
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
