import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { panelWords as t } from '../words/panel.ts'
import { keyBox } from './state.ts'

/** Removes the key of this device, after a question: without a copy it is gone for ever. */
export function ForgetKey({ onDone }: { onDone: () => void }) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button kind="quiet" onClick={() => setAsking(true)}>
        {t('key.forget')}
      </Button>
      {asking && (
        <Confirm
          title={t('key.forget.title')}
          action={t('key.forget')}
          danger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            keyBox.remove()
            setAsking(false)
            onDone()
          }}
        >
          <p>{t('key.forget.why')}</p>
        </Confirm>
      )}
    </>
  )
}
