import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Authored } from '../../client/management.ts'
import type { Definition } from '../../client/models.ts'
import { language } from '../browser/language.ts'
import { go } from '../browser/route.ts'
import { Button } from '../parts/button.tsx'
import { Choices } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { BenefitFields, benefitChoices } from './benefit-forms.tsx'
import { type Draft, draftOf, emptyDraft, retyped } from './draft.ts'
import { authoredOf, benefitOf, type Wrongs } from './draft-check.ts'
import { EditorPreview } from './editor-preview.tsx'
import { changeCoupon, createCoupon, findCoupon, loadOverview } from './state.ts'
import { TermsFields } from './terms-fields.tsx'
import { findUnsaved, keepUnsaved } from './unsaved.ts'

const steps = ['type', 'benefit', 'terms'] as const

type Props = {
  coupon: Definition | null
  /** Name under which the unsaved draft is kept, unique for this key and coupon. */
  place: string
}

/** The wizard for a new coupon, and for changing one. */
export function Editor({ coupon, place }: Props) {
  // A coupon that is changed has a type already: it begins at the second step.
  const first = coupon ? 1 : 0
  const [resumed, setResumed] = useState(() => findUnsaved(place))
  // The definition when the wizard opened. Another window may change it meanwhile, and the last edit must not
  // win in silence.
  const [opened, setOpened] = useState(resumed ? resumed.opened : coupon)
  const [draft, setDraft] = useState<Draft>(() => resumed?.draft ?? freshDraft(coupon))
  // Our own last change. After a lost answer it may be stored, and is no change by somebody else.
  const sent = useRef<Authored | null>(null)
  const [at, setAt] = useState(resumed?.at ?? first)
  const [wrongs, setWrongs] = useState<Wrongs>({})
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const step = steps[at] ?? 'terms'
  // Deleted in another window. The draft can be saved as a new coupon.
  const gone = opened !== null && coupon === null

  // A layout effect, since a passive one would not run when Back follows the last key at once.
  useLayoutEffect(() => {
    // An untouched form is no draft.
    const typedIn = JSON.stringify(draft) !== JSON.stringify(freshDraft(opened))
    keepUnsaved(place, typedIn ? { draft, at, opened } : null)
  }, [draft, at, opened])
  const change = (changes: Partial<Draft>) => {
    setDraft({ ...draft, ...changes })
    // Errors of an old text would mislead; the next step checks again.
    setWrongs({})
  }
  const show = (next: number) => {
    setAt(next)
    // The focus follows to the new step, after it is rendered.
    requestAnimationFrame(() => heading.current?.focus())
  }
  const isNewer = (now: Definition) => !sameTerms(now, opened) && !sameTerms(now, sent.current)
  // The person has seen the other change, and keeps either draft.
  const goOn = (draftNow: Draft) => {
    setOpened(coupon)
    setDraft(draftNow)
    show(at)
  }
  const beginAgain = () => {
    setResumed(null)
    setOpened(coupon)
    setDraft(freshDraft(coupon))
    show(first)
  }
  // A change of language rewrites the numbers that were typed before it.
  const spoken = useRef(language.value)
  useLayoutEffect(() => {
    if (spoken.current === language.value) return
    setDraft(retyped(draft, spoken.current))
    spoken.current = language.value
  }, [language.value])
  // The first invalid field takes the focus.
  const toWrong = () =>
    void requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
    )
  const save = async () => {
    const { authored, wrongs: found } = authoredOf(draft)
    setWrongs(found)
    if (!authored) return toWrong()
    setBusy(true)
    setFailure(null)
    try {
      if (coupon) {
        // The newest state, to be compared with the one that was opened.
        await loadOverview()
        const now = findCoupon(coupon.id)
        // Deleted or changed elsewhere: the notices above say so, and the person decides.
        if (!now || isNewer(now)) return setBusy(false)
        // Before the request: the answer may be lost although the change was stored.
        sent.current = authored
        await changeCoupon(coupon.id, authored)
        say(t('step.saved'))
        keepUnsaved(place, null)
        go('coupons', coupon.id)
      } else {
        const created = await createCoupon(authored)
        say(t('step.created', { name: created.name }))
        keepUnsaved(place, null)
        go('coupons', created.id)
      }
    } catch (cause) {
      // Only here: after a success the button stays busy until the view changes. A second tap would create
      // another coupon.
      setFailure(cause)
      setBusy(false)
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (step === 'terms') return void save()
    if (step === 'benefit') {
      const found = benefitOf(draft).wrongs
      setWrongs(found)
      if (Object.keys(found).length > 0) return toWrong()
    }
    show(at + 1)
  }
  return (
    <div class="stack wide">
      <h1>{coupon ? t('edit.title') : t('new.title')}</h1>
      {coupon && <Notice tone="wait">{t('edit.frozen')}</Notice>}
      {gone && <Notice tone="bad">{t('edit.gone')}</Notice>}
      {resumed && !gone && (
        <Notice tone="idle">
          <div class="stack tight">
            <p>{t('edit.resumed')}</p>
            <div>
              <Button onClick={beginAgain}>{t('edit.resumed.drop')}</Button>
            </div>
          </div>
        </Notice>
      )}
      <div class="wizard">
        <form ref={form} class="sheet stack wide" onSubmit={submit} noValidate>
          <div class="stack tight">
            <p class="soft small">{t('step.of', { at: at + 1, all: steps.length })}</p>
            <progress class="progress" aria-hidden="true" value={at + 1} max={steps.length} />
            <h2 ref={heading} tabIndex={-1}>
              {t(`step.${step}`)}
            </h2>
          </div>
          {step === 'type' && (
            <Choices
              label={t('step.type')}
              value={draft.type}
              options={benefitChoices()}
              onChoose={(type) => change({ type })}
            />
          )}
          {step === 'benefit' && <BenefitFields draft={draft} wrongs={wrongs} onChange={change} />}
          {step === 'terms' && <TermsFields draft={draft} wrongs={wrongs} onChange={change} />}
          {!busy && coupon && isNewer(coupon) && (
            <Notice tone="wait">
              <div class="stack tight">
                <p>{t('edit.newer')}</p>
                <div class="row">
                  <Button onClick={() => goOn(draftOf(coupon))}>{t('edit.newer.take')}</Button>
                  <Button onClick={() => goOn(draft)}>{t('edit.newer.mine')}</Button>
                </div>
              </div>
            </Notice>
          )}
          {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
          <div class="wizard-foot">
            {at > 0 ? (
              <Button icon="back" onClick={() => show(at - 1)}>
                {t('step.back')}
              </Button>
            ) : (
              <span />
            )}
            <Button kind="primary" type="submit" busy={busy}>
              {step !== 'terms' ? t('step.next') : coupon ? t('step.save') : t('step.create')}
            </Button>
          </div>
        </form>
        <EditorPreview draft={draft} saved={coupon?.image ?? null} />
      </div>
    </div>
  )
}

function freshDraft(coupon: Definition | null): Draft {
  return coupon ? draftOf(coupon) : emptyDraft
}

/** Whether two have the same terms. Comparing texts works: a benefit always has its fields in the same order. */
function sameTerms(one: Authored, other: Authored | null): boolean {
  return other !== null && termsOf(one) === termsOf(other)
}

function termsOf({ name, description, image, benefit, maxUses, expiresAt }: Authored): string {
  return JSON.stringify([name, description, image, benefit, maxUses, expiresAt])
}
