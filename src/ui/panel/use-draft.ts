import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import type { Authored } from '../../client/management.ts'
import type { Definition } from '../../client/models.ts'
import { language } from '../browser/language.ts'
import { copyOf, type Draft, draftOf, emptyDraft, retyped } from './draft.ts'
import { findUnsaved, keepUnsaved } from './unsaved.ts'

/**
 * The draft of one wizard. It is kept for this tab until it is saved, and compared with the definition that it
 * began from. `model`: a new coupon begins as a copy of it.
 */
export function useDraft(coupon: Definition | null, place: string, model: Definition | null) {
  // A coupon that is changed or copied has a type already: it begins at the second step.
  const first = coupon || model ? 1 : 0
  const freshDraft = (from: Definition | null) => {
    if (from) return draftOf(from)
    return model ? copyOf(model, systemClock()) : emptyDraft
  }
  const [resumed, setResumed] = useState(() => findUnsaved(place))
  // The definition when the wizard opened. Another window may change it meanwhile, and the last edit must not
  // win in silence.
  const [opened, setOpened] = useState(resumed ? resumed.opened : coupon)
  const [draft, setDraft] = useState<Draft>(() => resumed?.draft ?? freshDraft(coupon))
  const [at, setAt] = useState(resumed?.at ?? first)
  // Our own last change. After a lost answer it may be stored, and is no change by somebody else.
  const sent = useRef<Authored | null>(null)

  // A layout effect, since a passive one would not run when Back follows the last key at once.
  useLayoutEffect(() => {
    // An untouched form is no draft.
    const typedIn = JSON.stringify(draft) !== JSON.stringify(freshDraft(opened))
    keepUnsaved(place, typedIn ? { draft, at, opened } : null)
  }, [draft, at, opened])

  // A change of language rewrites the numbers that were typed before it.
  const spoken = useRef(language.value)
  useLayoutEffect(() => {
    if (spoken.current === language.value) return
    setDraft(retyped(draft, spoken.current))
    spoken.current = language.value
  }, [language.value])

  return {
    draft,
    /** The number of the step on the screen. */
    at,
    setAt,
    /** Whether the draft was found in the storage. */
    resumed: resumed !== null,
    /** Deleted in another window. The draft can be saved as a new coupon. */
    gone: opened !== null && coupon === null,
    // From the draft of now: an upload may end after other fields were typed.
    change: (changes: Partial<Draft>) => setDraft((now) => ({ ...now, ...changes })),
    /** Whether somebody else has changed the coupon since the wizard opened. */
    isNewer: (now: Definition) => !sameTerms(now, opened) && !sameTerms(now, sent.current),
    /** Note a change before its request: the answer may be lost although the change was stored. */
    noteSent(authored: Authored) {
      sent.current = authored
    },
    /** The person has seen the other change, and goes on with either draft. */
    goOn(draftNow: Draft) {
      setOpened(coupon)
      setDraft(draftNow)
    },
    /** Drop the draft; the step that a new one begins at. */
    beginAgain() {
      setResumed(null)
      setOpened(coupon)
      setDraft(freshDraft(coupon))
      setAt(first)
      return first
    },
    /** Forget the stored draft, which was saved. */
    forget: () => keepUnsaved(place, null),
  }
}

/** Whether two have the same terms. Comparing texts works: benefits and rules always have their fields in the same order. */
function sameTerms(one: Authored, other: Authored | null): boolean {
  return other !== null && textOf(one) === textOf(other)
}

function textOf({
  name,
  description,
  image,
  picture = null,
  benefit,
  maxUses,
  expiresAt,
  rules,
}: Authored): string {
  // The address of a photo follows from it.
  const shown = picture ?? image
  return JSON.stringify([name, description, shown, benefit, maxUses, expiresAt, rules ?? null])
}
