import { useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { isPlainName } from '../../base/words.ts'
import { type ShopColor, shopColors } from '../../shops/color.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field, Swatches } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { worthOf } from '../parts/shop-shade.ts'
import { say } from '../parts/toast.tsx'
import { ownShopWords as t } from '../words/own-shop.ts'
import { ownColor, ownName, ownPicture, saveShop, unpublished } from './own-shop.ts'
import { PhotoField } from './photo-field.tsx'

/** The sentence about a name that the service would refuse; null for a good one. */
export function nameError(name: string): string | null {
  const trimmed = name.trim()
  if (trimmed === '') return t('shop.name.missing')
  if ([...trimmed].length > clientLimits.nameCharsMax) {
    return t('shop.name.long', { n: clientLimits.nameCharsMax })
  }
  return isPlainName(trimmed) ? null : t('shop.name.strange')
}

type NameProps = {
  value: string
  onText: (name: string) => void
  error: string | null
  'data-begin'?: true
}

export function NameField(field: NameProps) {
  return (
    <Field
      {...field}
      label={t('shop.name')}
      hint={t('shop.name.hint')}
      autoComplete="organization"
    />
  )
}

/** Changes the name of the merchant's shop; with `colors`, its colour and logo as well. */
export function ShopForm({ colors = false }: { colors?: boolean }) {
  const [typed, setTyped] = useState<string | null>(null)
  const [chosen, setChosen] = useState<ShopColor | null>(null)
  const [logo, setLogo] = useState<string | null>(null)
  const [wrong, setWrong] = useState<string | null>(null)
  const [uploading, setUploading] = useState(false)
  const { busy, failure, attempt } = useAttempt()
  // The stored values may arrive after the form: they show until the person changes them.
  const name = typed ?? ownName() ?? ''
  const color = chosen ?? ownColor() ?? 'green'
  const save = () => {
    const error = nameError(name)
    setWrong(error)
    if (error !== null || busy) return
    void attempt(async () => {
      const stored = await saveShop({
        name: name.trim(),
        ...(chosen && { color: chosen }),
        // An empty text takes the logo away.
        ...(logo !== null && { picture: logo === '' ? null : logo }),
      })
      say(t(stored ? 'shop.saved' : 'shop.later'), stored ? 'good' : 'wait')
    })
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <NameField
        value={name}
        onText={(text) => {
          setWrong(null)
          setTyped(text)
        }}
        error={wrong}
      />
      {colors && (
        <Swatches
          label={t('shop.color')}
          value={color}
          options={shopColors.map((one) => ({
            value: one,
            text: t(`color.${one}`),
            shade: worthOf(one) ?? '',
          }))}
          onChoose={setChosen}
        />
      )}
      {colors && (
        <PhotoField
          label={t('shop.logo')}
          picture={logo ?? ownPicture() ?? ''}
          onPicture={setLogo}
          onUploading={setUploading}
        />
      )}
      {unpublished.value && <Notice tone="idle">{t('shop.unpublished')}</Notice>}
      {failure !== null && <Failure cause={failure} />}
      <div>
        <Button kind="primary" type="submit" icon="check" busy={busy || uploading}>
          {t('shop.save')}
        </Button>
      </div>
    </form>
  )
}
