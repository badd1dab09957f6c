/** What was typed into the wizard and not saved, kept for this tab: who went back finds it again. */
import { parseJson } from '../../client/json.ts'
import type { Definition } from '../../client/models.ts'
import { type Language, language } from '../browser/language.ts'
import { tab } from '../browser/storage.ts'
import { benefitTypes } from './benefit-forms.tsx'
import { type Draft, emptyDraft, retyped } from './draft.ts'

type Unsaved = {
  draft: Draft
  /** The step it was left at. */
  at: number
  /** What was being changed, as it was; null for a new coupon. */
  opened: Definition | null
}
type Kept = Unsaved & { place: string; language: Language }

const name = 'panel:unsaved'
/** The oldest gives way. */
const keptMax = 10

/** What waits at this place, with its numbers as they are written in the language of now. */
export function findUnsaved(place: string): Unsaved | null {
  const found = read().find((one) => one.place === place)
  if (!found) return null
  const { draft, at, opened, language: spoken } = found
  return { draft: spoken === language.peek() ? draft : retyped(draft, spoken), at, opened }
}

/** Keep it, or with null forget what was kept. */
export function keepUnsaved(place: string, unsaved: Unsaved | null): void {
  const others = read().filter((one) => one.place !== place)
  const kept = unsaved ? [...others, { ...unsaved, place, language: language.peek() }] : others
  tab.write(name, JSON.stringify(kept.slice(-keptMax)))
}

export function forgetUnsaved(): void {
  tab.remove(name)
}

function read(): Kept[] {
  const list = parseJson(tab.read(name))
  return Array.isArray(list) ? list.filter(isKept) : []
}

function isKept(value: unknown): value is Kept {
  if (!isRecord(value)) return false
  const { place, at, opened, language: spoken, draft } = value
  return (
    typeof place === 'string' &&
    typeof at === 'number' &&
    (spoken === 'es' || spoken === 'en') &&
    (opened === null || (isRecord(opened) && isRecord(opened.benefit))) &&
    isDraft(draft)
  )
}

function isDraft(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { expiresAt, items, type } = value
  const { expiresAt: _, items: __, ...plain } = emptyDraft
  return (
    Object.entries(plain).every(([field, empty]) => typeof value[field] === typeof empty) &&
    (expiresAt === null || typeof expiresAt === 'number') &&
    benefitTypes.some((known) => known === type) &&
    Array.isArray(items) &&
    items.every((one) => isRecord(one) && typeof one.d === 'string' && typeof one.qty === 'string')
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
