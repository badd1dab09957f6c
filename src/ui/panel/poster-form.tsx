import { useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { clientLimits } from '../../base/limits-client.ts'
import type { Poster } from '../../client/models.ts'
import type { PosterLimits } from '../../client/posters.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { postersWords as t } from '../words/posters.ts'
import { failureText } from '../words/signer.ts'
import {
  emptyPoster,
  limitsIn,
  type PosterDraft,
  type PosterWrongs,
  posterDraftOf,
} from './poster-draft.ts'

type Props = {
  /** Null for a new one. */
  poster: Poster | null
  onSave: (limits: PosterLimits) => Promise<void>
  onClose: () => void
}

/** The limits of a new or an existing poster. */
export function PosterForm({ poster, onSave, onClose }: Props) {
  const [draft, setDraft] = useState(poster ? posterDraftOf(poster) : emptyPoster)
  const [wrongs, setWrongs] = useState<PosterWrongs>({})
  const { busy, failure, attempt } = useAttempt()
  const field = (name: keyof PosterDraft) => {
    const wrong = wrongs[name]
    return {
      value: draft[name],
      onText: (text: string) => setDraft({ ...draft, [name]: text }),
      error: wrong ? t(`wrong.${wrong}`, { n: poster?.taken ?? 0 }) : null,
    }
  }
  const save = () => {
    const checked = limitsIn(draft, poster, systemClock())
    setWrongs(checked.wrongs)
    const { found } = checked
    if (found) void attempt(() => onSave(found))
  }
  return (
    <Dialog title={t(poster ? 'edit.title' : 'new.title')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <div class="pair">
          <Field data-begin label={t('field.total')} inputMode="numeric" {...field('total')} />
          <Field label={t('field.day')} inputMode="numeric" {...field('perDay')} />
        </div>
        <p class="hint">{t('field.total.hint')}</p>
        <Field label={t('field.person')} inputMode="numeric" {...field('perPerson')} />
        <p class="hint">{t('honest')}</p>
        <div class="pair wordy">
          <Field label={t('field.starts')} type="date" {...field('starts')} />
          <Field label={t('field.ends')} type="date" {...field('ends')} />
        </div>
        <Field
          label={t('field.label')}
          hint={t('field.label.hint')}
          maxLength={clientLimits.labelCharsMax}
          {...field('label')}
        />
        {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
        <Button kind="primary" wide big type="submit" busy={busy}>
          {t(poster ? 'save' : 'create')}
        </Button>
      </form>
    </Dialog>
  )
}
