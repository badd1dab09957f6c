import type { Definition } from '../../client/models.ts'
import type { Language } from '../browser/language.ts'
import { parseAmount, typed } from '../words/amount.ts'
import { type BenefitDraft, emptyBenefit, retypedBenefit, typedBenefit } from './benefit-forms.tsx'
import { dayOf } from './days.ts'
import { emptyRules, type RulesDraft, retypedRules, typedRules } from './rules-draft.ts'

/** The fields of the wizard as typed. Numbers stay text until they are checked: `1,` is on its way to `1,5`. */
export type Draft = BenefitDraft & {
  name: string
  description: string
  image: string
  /** The hash of the uploaded photo; empty without one. */
  picture: string
  maxUses: string
  /** `YYYY-MM-DD` on the clock of this device. */
  expires: string
  /** The stored expiry. It stays, with its clock time, while `expires` is still the same day. */
  expiresAt: number | null
  rules: RulesDraft
}

export const emptyDraft: Draft = {
  ...emptyBenefit,
  name: '',
  description: '',
  image: '',
  picture: '',
  maxUses: '',
  expires: '',
  expiresAt: null,
  rules: emptyRules,
}

/** The draft of an existing definition. */
export function draftOf({
  name,
  description,
  image,
  picture = '',
  benefit,
  maxUses,
  expiresAt,
  rules,
}: Definition): Draft {
  return {
    ...emptyDraft,
    ...typedBenefit(benefit),
    name,
    description,
    // The address of an uploaded photo is not one that a person typed.
    image: picture === '' ? (image ?? '') : '',
    picture,
    maxUses: maxUses === null ? '' : String(maxUses),
    expires: expiresAt === null ? '' : dayOf(expiresAt),
    expiresAt,
    rules: typedRules(rules),
  }
}

/** The draft of a new coupon like this one. A date that is over would only be refused. */
export function copyOf(definition: Definition, now: number): Draft {
  const draft = draftOf(definition)
  const over = draft.expiresAt !== null && draft.expiresAt <= now
  return over ? { ...draft, expires: '', expiresAt: null } : draft
}

/** A draft after a change of language, with its numbers rewritten: `5.000` would be five in English. */
export function retyped(draft: Draft, before: Language): Draft {
  const again = (text: string) => {
    const value = parseAmount(text, before)
    // An unfinished number stays as it was typed.
    return Number.isNaN(value) ? text : typed(value)
  }
  const rules = retypedRules(draft.rules, again)
  return { ...draft, ...retypedBenefit(draft, again), maxUses: again(draft.maxUses), rules }
}
