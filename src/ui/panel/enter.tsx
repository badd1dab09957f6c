import type { PageSigner } from '../../client/signer.ts'
import { Button } from '../parts/button.tsx'
import { panelWords as t } from '../words/panel.ts'

/** What each way to sign in is given. */
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
