import { settingIn } from '../../client/api-error.ts'
import { commonWords as t } from '../words/common.ts'
import { failureText } from '../words/signer.ts'
import { CopyButton } from './copy-button.tsx'
import { Notice } from './notice.tsx'

/** A failure in words. Where the service named a setting that would help, it can be copied. */
export function Failure({ cause }: { cause: unknown }) {
  const setting = settingIn(cause)
  return (
    <Notice tone="bad">
      <div class="stack tight">
        <p>{failureText(cause)}</p>
        {setting !== null && (
          <>
            <p>{t('setting.who')}</p>
            <p>
              <code class="setting">{setting}</code>
            </p>
            <div>
              <CopyButton text={setting} />
            </div>
          </>
        )}
      </div>
    </Notice>
  )
}
