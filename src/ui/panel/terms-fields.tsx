import { clientLimits } from '../../base/limits-client.ts'
import { Field, TextArea } from '../parts/field.tsx'
import { Fold } from '../parts/fold.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { photoWords as photo } from '../words/photo.ts'
import type { Draft } from './draft.ts'
import { nameOf, type Wrongs } from './draft-check.ts'
import { PhotoField } from './photo-field.tsx'
import { RulesFields } from './rules-fields.tsx'

type Props = {
  draft: Draft
  wrongs: Wrongs
  onChange: (changes: Partial<Draft>) => void
  onUploading: (uploading: boolean) => void
}

/** The fields of the last step: name, description, limits, picture and rules. */
export function TermsFields({ draft, wrongs, onChange, onUploading }: Props) {
  const wrong = (field: string) => {
    const key = wrongs[field]
    return key ? t(key) : null
  }
  return (
    <div class="stack">
      <Field
        label={t('field.name')}
        // Not as a placeholder, which looks filled in.
        hint={t('field.name.hint', { name: nameOf({ ...draft, name: '' }) })}
        maxLength={clientLimits.nameCharsMax}
        value={draft.name}
        onText={(name) => onChange({ name })}
        error={wrong('name')}
      />
      <TextArea
        label={t('field.description')}
        placeholder={t('field.description.example')}
        maxLength={clientLimits.descriptionCharsMax}
        value={draft.description}
        onText={(description) => onChange({ description })}
        error={wrong('description')}
      />
      <div class="pair wordy">
        <Field
          label={t('field.max')}
          hint={t('field.max.hint')}
          inputMode="numeric"
          value={draft.maxUses}
          onText={(maxUses) => onChange({ maxUses })}
          error={wrong('maxUses')}
        />
        <Field
          label={t('field.expires')}
          hint={t('field.expires.hint')}
          type="date"
          value={draft.expires}
          onText={(expires) => onChange({ expires })}
          error={wrong('expires')}
        />
      </div>
      <PhotoField
        label={photo('photo.title')}
        picture={draft.picture}
        onPicture={(picture) => onChange({ picture })}
        onUploading={onUploading}
      />
      {draft.picture === '' && (
        <Fold
          summary={photo('photo.other')}
          open={draft.image !== ''}
          wrong={wrongs.image !== undefined}
        >
          <Field
            label={t('field.image')}
            hint={t('field.image.hint')}
            type="url"
            inputMode="url"
            autoComplete="off"
            value={draft.image}
            onText={(image) => onChange({ image })}
            error={wrong('image')}
          />
        </Fold>
      )}
      <RulesFields rules={draft.rules} wrongs={wrongs} onChange={(rules) => onChange({ rules })} />
    </div>
  )
}
