import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { arrive } from '../parts/arrival.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { QrReader } from '../parts/qr-reader.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { parseShop } from '../state/shops.ts'
import { panelWords as t } from '../words/panel.ts'

type Props = Pick<
  Parameters<typeof Field>[0],
  'label' | 'hint' | 'error' | 'value' | 'onText' | 'data-begin'
>

/** A key of somebody else, typed or read from a QR code. One that was read shows to those who ask. */
export function KeyField({ value, onText, ...field }: Props) {
  const [scanned, setScanned] = useState<string | null>(null)
  const read = (text: string) => {
    const npub = parseShop(text)
    setScanned(npub)
    // A name (NIP-05) stays as it was read: the service resolves it.
    onText(npub ?? text.trim())
  }
  if (scanned !== null && scanned === value) {
    return <ReadKey npub={scanned} onOther={() => onText('')} />
  }
  return (
    <>
      <Field {...field} autoComplete="off" spellcheck={false} value={value} onText={onText} />
      <QrReader onRead={read} />
    </>
  )
}

function ReadKey({ npub, onOther }: { npub: string; onOther: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  // The reader had the focus, and is gone: no key press may fall in between.
  useLayoutEffect(() => arrive(box.current), [])
  return (
    <div ref={box} class="stack tight">
      <Notice tone="good" icon="key">
        {t('key.read')}
      </Notice>
      <div class="row apart">
        <ShopKey npub={npub} />
        <Button kind="quiet" onClick={onOther}>
          {t('key.read.other')}
        </Button>
      </div>
    </div>
  )
}
