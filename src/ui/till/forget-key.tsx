import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { tillWords as t } from '../words/till.ts'
import { forgetName, hasKey, keyBox, signOut } from './issue-state.ts'

/** Removes the till's key. A new one needs the merchant again, so it asks first. */
export function ForgetKey() {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button kind="danger" icon="trash" onClick={() => setAsking(true)}>
        {t('key.forget')}
      </Button>
      {asking && (
        <Confirm
          title={t('key.forget')}
          action={t('key.forget.yes')}
          danger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            keyBox.remove()
            hasKey.value = false
            forgetName()
            signOut()
            setAsking(false)
          }}
        >
          <p>{t('key.forget.sure')}</p>
        </Confirm>
      )}
    </>
  )
}
