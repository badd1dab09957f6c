import { signal } from '@preact/signals'
import { createPortal } from 'preact'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { usePrinting } from '../parts/printing.ts'
import { moveWords as t } from '../words/move.ts'

const printed = signal<string | null>(null)

/** The words of a move, to write down, to copy or to print. */
export function MoveWords({ words }: { words: string }) {
  usePrinting(printed, true)
  return (
    <section class="stack tight" aria-label={t('words.title')}>
      <h2>{t('words.title')}</h2>
      <p>{t('words.why')}</p>
      <WordList words={words} />
      <div class="row">
        <CopyButton text={words} />
        <Button
          icon="print"
          onClick={() => {
            printed.value = words
          }}
        >
          {t('words.print')}
        </Button>
      </div>
      {printed.value !== null &&
        createPortal(
          <div class="paper">
            <p>{t('words.paper')}</p>
            <WordList words={printed.value} />
          </div>,
          document.body,
        )}
    </section>
  )
}

function WordList({ words }: { words: string }) {
  return (
    <ol class="recovery-words">
      {words.split(' ').map((word, place) => (
        // A word may come twice.
        <li key={`${place} ${word}`}>{word}</li>
      ))}
    </ol>
  )
}
