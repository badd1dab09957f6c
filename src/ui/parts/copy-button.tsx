import { copyText } from '../browser/clipboard.ts'
import { commonWords as t } from '../words/common.ts'
import { Button } from './button.tsx'
import { say } from './toast.tsx'

type Props = { text: string; onCopied?: (() => void) | undefined }

/** Copies a text, and confirms it in a toast. */
export function CopyButton({ text, onCopied }: Props) {
  const copy = async () => {
    const copied = await copyText(text)
    if (copied) onCopied?.()
    say(copied ? t('copied') : t('uncopied'), copied ? 'good' : 'wait')
  }
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {t('copy')}
    </Button>
  )
}
