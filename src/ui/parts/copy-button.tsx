import { copyText } from '../browser/clipboard.ts'
import { commonWords as t } from '../words/common.ts'
import { Button } from './button.tsx'
import { say } from './toast.tsx'

/** Copies a text, and confirms it in a toast. */
export function CopyButton({ text }: { text: string }) {
  const copy = async () => {
    const copied = await copyText(text)
    say(copied ? t('copied') : t('uncopied'), copied ? 'good' : 'wait')
  }
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {t('copy')}
    </Button>
  )
}
