import { shownPath } from '../../client/images.ts'
import { PhotoError, shrinkPhoto } from '../browser/photo.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { FileButton } from '../parts/file-button.tsx'
import { Notice } from '../parts/notice.tsx'
import { photoWords as t } from '../words/photo.ts'
import { uploadPicture } from './state.ts'

type Props = {
  label: string
  /** The hash of the chosen photo; empty without one. */
  picture: string
  onPicture: (hash: string) => void
  /** Called when an upload begins and when it ends. A form waits for it, or it would be saved without the photo. */
  onUploading: (uploading: boolean) => void
}

/** Chooses a photo of this device, or takes one, and uploads it at once. It counts when the form is saved. */
export function PhotoField({ label, picture, onPicture, onUploading }: Props) {
  const { busy, failure, attempt } = useAttempt()
  const upload = (file: File) => {
    if (busy) return
    onUploading(true)
    const uploaded = attempt(async () => onPicture(await uploadPicture(await shrinkPhoto(file))))
    void uploaded.then(() => onUploading(false))
  }
  const path = picture === '' ? null : shownPath({ image: null, picture })
  return (
    <fieldset class="field" aria-busy={busy}>
      <legend>{label}</legend>
      {path !== null && <img class="photo" src={path} alt={t('photo.shown')} />}
      <div class="actions">
        <FileButton icon="image" label={t('photo.upload')} accept="image/*" onFile={upload} />
        {/* On a computer, the button would open the same dialog. */}
        {matchMedia('(pointer: coarse)').matches && (
          <FileButton
            icon="camera"
            label={t('photo.take')}
            accept="image/*"
            camera
            onFile={upload}
          />
        )}
        {path !== null && (
          <Button icon="trash" onClick={() => onPicture('')}>
            {t('photo.remove')}
          </Button>
        )}
        {busy && <span class="spinner" aria-hidden="true" />}
      </div>
      <p class="hint">{t('photo.hint')}</p>
      {failure instanceof PhotoError ? (
        <Notice tone="bad">{t('photo.unreadable')}</Notice>
      ) : (
        failure !== null && <Failure cause={failure} />
      )}
    </fieldset>
  )
}
