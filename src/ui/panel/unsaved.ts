/** Unsaved drafts of the wizard, kept for this tab: Back, a reload or a deleted coupon must not lose them. */
import { asObject } from '../../base/json.ts'
import { parseStored } from '../../client/json.ts'
import type { Definition } from '../../client/models.ts'
import { type Language, language } from '../browser/language.ts'
import { tab } from '../browser/storage.ts'
import { benefitTypes } from './benefit-forms.tsx'
import { type Draft, emptyDraft, retyped } from './draft.ts'
import { isRulesDraft } from './rules-draft.ts'

type Unsaved = {
  draft: Draft
  /** The step on the screen. */
  at: number
  /** The definition when the wizard opened; null for a new coupon. */
  opened: Definition | null
}
type Kept = Unsaved & { place: string; language: Language }

const name = 'panel:unsaved'
/** Bounds the storage; the oldest draft gives way. */
const keptMax = 10

/** The draft of this name, with its numbers in the current language. */
export function findUnsaved(place: string): Unsaved | null {
  const found = read().find((one) => one.place === place)
  if (!found) return null
  const { draft, at, opened, language: spoken } = found
  return { draft: spoken === language.peek() ? draft : retyped(draft, spoken), at, opened }
}

/** Keep a draft; null forgets it. */
export function keepUnsaved(place: string, unsaved: Unsaved | null): void {
  const others = read().filter((one) => one.place !== place)
  // Its language is kept, too: numbers are text, and `5.000` depends on it.
  const kept = unsaved ? [...others, { ...unsaved, place, language: language.peek() }] : others
  tab.write(name, JSON.stringify(kept.slice(-keptMax)))
}

export function forgetUnsaved(): void {
  tab.remove(name)
}

function read(): Kept[] {
  const list = parseStored(tab.read(name))
  return Array.isArray(list) ? list.filter(isKept) : []
}

/** Whole entries only: an older build may have stored others, and the wizard trusts every field. */
function isKept(value: unknown): value is Kept {
  const { place, at, opened, language: spoken, draft } = asObject(value) ?? {}
  return (
    typeof place === 'string' &&
    typeof at === 'number' &&
    (spoken === 'es' || spoken === 'en') &&
    (opened === null || asObject(asObject(opened)?.benefit) !== null) &&
    isDraft(draft)
  )
}

function isDraft(value: unknown): boolean {
  const record = asObject(value)
  if (!record) return false
  const { expiresAt, items, rules, type } = record
  const { expiresAt: _, items: __, rules: ___, ...plain } = emptyDraft
  return (
    Object.entries(plain).every(([field, empty]) => typeof record[field] === typeof empty) &&
    (expiresAt === null || typeof expiresAt === 'number') &&
    isRulesDraft(rules) &&
    benefitTypes.some((known) => known === type) &&
    Array.isArray(items) &&
    items.every(isItem)
  )
}

function isItem(value: unknown): boolean {
  const { d, qty } = asObject(value) ?? {}
  return typeof d === 'string' && typeof qty === 'string'
}
