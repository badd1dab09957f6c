import type { Definition } from '../../client/models.ts'
import type { Language } from '../browser/language.ts'
import { parseAmount, typed } from '../words/amount.ts'
import { type BenefitDraft, emptyBenefit, retypedBenefit, typedBenefit } from './benefit-forms.tsx'

/** The fields of the wizard as typed. Numbers stay text until they are checked: `1,` is on its way to `1,5`. */
export type Draft = BenefitDraft & {
  name: string
  description: string
  image: string
  maxUses: string
  /** `YYYY-MM-DD` on the clock of this device. */
  expires: string
  /** The stored expiry. It stays, with its clock time, while `expires` is still the same day. */
  expiresAt: number | null
}

export const emptyDraft: Draft = {
  ...emptyBenefit,
  name: '',
  description: '',
  image: '',
  maxUses: '',
  expires: '',
  expiresAt: null,
}

/** The draft of an existing definition. */
export function draftOf({
  name,
  description,
  image,
  benefit,
  maxUses,
  expiresAt,
}: Definition): Draft {
  return {
    ...emptyDraft,
    ...typedBenefit(benefit),
    name,
    description,
    image: image ?? '',
    maxUses: maxUses === null ? '' : String(maxUses),
    expires: expiresAt === null ? '' : dayOf(expiresAt),
    expiresAt,
  }
}

/** A draft after a change of language, with its numbers rewritten: `5.000` would be five in English. */
export function retyped(draft: Draft, before: Language): Draft {
  const again = (text: string) => {
    const value = parseAmount(text, before)
    // An unfinished number stays as it was typed.
    return Number.isNaN(value) ? text : typed(value)
  }
  return { ...draft, ...retypedBenefit(draft, again), maxUses: again(draft.maxUses) }
}

/** `YYYY-MM-DD` on the clock of this device. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
