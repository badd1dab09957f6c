import type { PageSigner } from '../../client/signer.ts'
import { Button } from '../parts/button.tsx'
import { panelWords as t } from '../words/panel.ts'

/** Props of each form to sign in. */
export type EnterProps = { enter: (signer: PageSigner) => Promise<void>; onBack: () => void }

export function BackButton({ onBack }: { onBack: () => void }) {
  return (
    <div>
      <Button kind="quiet" icon="back" onClick={onBack}>
        {t('in.other')}
      </Button>
    </div>
  )
}
