import { useRef, useState } from 'preact/hooks'
import type { Authored } from '../../client/management.ts'
import type { Definition } from '../../client/models.ts'
import { hrefTo } from '../browser/route.ts'
import { Button } from '../parts/button.tsx'
import { Choices } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { BenefitFields, benefitChoices } from './benefit-forms.tsx'
import { type Draft, draftOf } from './draft.ts'
import { authoredOf, benefitOf, type Wrongs } from './draft-check.ts'
import { NewerNotice, ResumedNotice } from './editor-notices.tsx'
import { EditorPreview } from './editor-preview.tsx'
import { changeCoupon, createCoupon, findCoupon, loadOverview } from './state.ts'
import { TermsFields } from './terms-fields.tsx'
import { useDraft } from './use-draft.ts'
import { useSteps } from './wizard-steps.ts'

const stepNames = ['type', 'benefit', 'terms'] as const

type Props = {
  coupon: Definition | null
  /** The coupon that a new one is a copy of. */
  model?: Definition | null
  /** Name under which the unsaved draft is kept, unique for this key and coupon. */
  place: string
}

/** The wizard for a new coupon, and for changing one. */
export function Editor({ coupon, model = null, place }: Props) {
  const wizard = useDraft(coupon, place, model)
  const { draft, at, gone } = wizard
  const [wrongs, setWrongs] = useState<Wrongs>({})
  const [busy, setBusy] = useState(false)
  const [uploading, setUploading] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const step = stepNames[at] ?? 'terms'

  const change = (changes: Partial<Draft>) => {
    wizard.change(changes)
    // Errors of an old text would mislead; the next step checks again.
    setWrongs({})
  }
  // The focus follows to the new step, after it is rendered.
  const toHeading = () => void requestAnimationFrame(() => heading.current?.focus())
  const steps = useSteps(place, at, (step) => {
    wizard.setAt(step)
    setWrongs({})
    toHeading()
  })
  const goOn = (draftNow: Draft) => {
    wizard.goOn(draftNow)
    toHeading()
  }
  // The first invalid field takes the focus.
  const toWrong = () =>
    void requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
    )
  const saveNew = async (authored: Authored) => {
    const { id } = await createCoupon(authored)
    return { id, text: t('step.created') }
  }
  const saveChange = async (id: string, authored: Authored) => {
    // The newest state, to be compared with the one that was opened.
    await loadOverview()
    const now = findCoupon(id)
    if (!now || wizard.isNewer(now)) return null
    wizard.noteSent(authored)
    await changeCoupon(id, authored)
    return { id, text: t('step.saved') }
  }
  const save = async () => {
    const { authored, wrongs: found } = authoredOf(draft)
    setWrongs(found)
    if (!authored) return toWrong()
    setBusy(true)
    setFailure(null)
    try {
      const saved = coupon ? await saveChange(coupon.id, authored) : await saveNew(authored)
      // Deleted or changed elsewhere: the notices say so, and the person decides.
      if (!saved) return setBusy(false)
      say(saved.text)
      wizard.forget()
      steps.leave(hrefTo('coupons', saved.id))
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
    steps.forward(at + 1)
  }
  return (
    <div class="stack wide">
      <h1>{coupon ? t('edit.title') : t('new.title')}</h1>
      {coupon && <Notice tone="wait">{t('edit.frozen')}</Notice>}
      {gone && <Notice tone="bad">{t('edit.gone')}</Notice>}
      {wizard.resumed && !gone && (
        <ResumedNotice
          onDrop={() => {
            steps.restart(wizard.beginAgain())
            toHeading()
          }}
        />
      )}
      <div class="wizard">
        <form ref={form} class="sheet stack wide" onSubmit={submit} noValidate>
          <div class="stack tight">
            <p class="soft small">{t('step.of', { at: at + 1, all: stepNames.length })}</p>
            <progress class="progress" aria-hidden="true" value={at + 1} max={stepNames.length} />
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
          {step === 'terms' && (
            <TermsFields
              draft={draft}
              wrongs={wrongs}
              onChange={change}
              onUploading={setUploading}
            />
          )}
          {!busy && coupon && wizard.isNewer(coupon) && (
            <NewerNotice onTake={() => goOn(draftOf(coupon))} onMine={() => goOn(draft)} />
          )}
          {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
          <div class="wizard-foot">
            {at > 0 ? (
              <Button icon="back" onClick={steps.back}>
                {t('step.back')}
              </Button>
            ) : (
              <span />
            )}
            <Button kind="primary" type="submit" busy={busy || uploading}>
              {step !== 'terms' ? t('step.next') : coupon ? t('step.save') : t('step.create')}
            </Button>
          </div>
        </form>
        <EditorPreview draft={draft} saved={(coupon ?? model)?.image ?? null} />
      </div>
    </div>
  )
}
