import { commonWords as t } from '../words/common.ts'
import { CodeText, codeTextOf } from './code-text.tsx'
import { CopyButton } from './copy-button.tsx'

type Props = { nonce: string; onCopied?: (() => void) | undefined }

/** The code of a coupon, for a till whose camera cannot read it. */
export function WrittenCode({ nonce, onCopied }: Props) {
  return (
    <div class="written-code">
      <p class="soft small">{t('typed.title')}</p>
      <CodeText nonce={nonce} />
      <CopyButton text={codeTextOf(nonce)} onCopied={onCopied} />
    </div>
  )
}
