import { useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { clientLimits } from '../../base/limits-client.ts'
import { isPlainName } from '../../base/words.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { FileButton } from '../parts/file-button.tsx'
import { Fold } from '../parts/fold.tsx'
import { Notice } from '../parts/notice.tsx'
import { batchWords as t } from '../words/batches.ts'
import { day, list as listed } from '../words/format.ts'
import { failureText } from '../words/signer.ts'
import { isolated } from '../words/words.ts'
import { type BatchDraft, emptyBatch, findBatchDraft, keepBatchDraft } from './batch-draft.ts'
import {
  fileBytesMax,
  listCharsMax,
  parseRecipientFile,
  parseRecipientLines,
  type Recipient,
  type WrongFile,
  type WrongLine,
} from './recipient-list.ts'

/** `recipients`: empty where nobody is named; else one for each voucher. */
export type AskedBatch = { name: string; count: number; recipients: readonly Recipient[] }

type Props = {
  couponId: string
  busy: boolean
  failure: unknown
  onIssue: (asked: AskedBatch) => void
}

/** Asks for the number of vouchers or their recipients, and a name for all of them. */
export function BatchForm({ couponId, busy, failure, onIssue }: Props) {
  const [draft, setDraft] = useState(() => findBatchDraft(couponId) ?? emptyBatch)
  const { count, name, list } = draft
  const change = (changes: Partial<BatchDraft>) =>
    setDraft((before) => {
      const next = { ...before, ...changes }
      keepBatchDraft(couponId, next)
      return next
    })
  const [tried, setTried] = useState(false)
  const [wrongFile, setWrongFile] = useState<WrongFile | null>(null)
  const reading = useAttempt()
  // By the day, so that an issue that is tried again after a reload has the same name.
  const [named] = useState(() => t('many.batch.default', { day: day(systemClock()) }))
  const { recipients, wrongs } = parseRecipientLines(list)
  const people = recipients.length + wrongs.length
  const wanted = people > 0 ? people : Number(count)
  // Checked here as well, since the field takes any text.
  const sensible = Number.isInteger(wanted) && wanted >= 1 && wanted <= clientLimits.mintCountMax
  const nameRight = isBatchName(name)
  const listWrong = tried ? listError(wrongs, people) : null
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const right = sensible && nameRight && wrongs.length === 0
    setTried(!right)
    if (right) onIssue({ name: name.trim() || named, count: wanted, recipients })
  }
  const take = async (file: File) => {
    setWrongFile(null)
    const found: ReturnType<typeof parseRecipientFile> =
      file.size > fileBytesMax ? { why: 'large' } : await readFile(file)
    if ('why' in found) {
      setWrongFile(found)
      return
    }
    change({ list: found.lines.join('\n') })
    // Their errors belong beside the list at once: nobody typed them.
    setTried(true)
  }
  return (
    <form class="stack" onSubmit={submit} noValidate>
      {people === 0 && (
        <Field
          data-begin
          label={t('many.count')}
          hint={t('many.hint')}
          inputMode="numeric"
          value={count}
          onText={(text) => change({ count: text })}
          error={tried && !sensible ? t('many.wrong') : null}
        />
      )}
      <Fold summary={t('many.names')} open={list !== ''} wrong={listWrong !== null}>
        <div class="stack">
          <TextArea
            label={t('many.list')}
            hint={t('many.list.hint')}
            value={list}
            maxLength={listCharsMax}
            onText={(text) => {
              setTried(false)
              change({ list: text })
            }}
            error={listWrong}
          />
          <FileButton
            icon="list"
            label={t('many.file')}
            accept=".csv,.txt,.tsv,text/csv,text/plain"
            onFile={(file) => void reading.attempt(() => take(file))}
          />
          {wrongFile !== null && <Notice tone="bad">{fileError(wrongFile)}</Notice>}
          {reading.failure !== null && <Failure cause={reading.failure} />}
        </div>
      </Fold>
      <Field
        label={t('many.batch')}
        hint={t('many.batch.hint', { name: named })}
        value={name}
        onText={(text) => change({ name: text })}
        autoComplete="off"
        error={tried && !nameRight ? t('many.batch.wrong') : null}
      />
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      <Button kind="primary" wide big type="submit" icon="ticket" busy={busy}>
        {people > 0 ? t('many.do.each', { n: people }) : t('many.do')}
      </Button>
    </form>
  )
}

/** Empty, or a name as the service takes it. */
function isBatchName(typed: string): boolean {
  const name = typed.trim()
  if (name === '') return true
  const sound = name.isWellFormed() && !/\p{Cc}/u.test(name) && isPlainName(name)
  return sound && [...name].length <= clientLimits.labelCharsMax
}

/** A file may be moved or locked after it was chosen. */
async function readFile(file: File): Promise<{ lines: string[] } | WrongFile> {
  try {
    return parseRecipientFile(new Uint8Array(await file.arrayBuffer()))
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    return { why: 'locked' }
  }
}

function fileError(wrong: WrongFile): string {
  if (wrong.why === 'nameless') {
    return t('many.file.nameless', { titles: listed(wrong.titles.map(isolated)) })
  }
  if (wrong.why === 'quote') return t('many.file.quote', { line: wrong.line })
  if (wrong.why === 'many') return t('many.file.many', { n: wrong.rows })
  return t(`many.file.${wrong.why}`)
}

/** Lines that are told at once; the rest is a number. */
const toldMax = 3

function listError(wrongs: readonly WrongLine[], people: number): string | null {
  if (people > clientLimits.mintCountMax) return t('many.people', { n: people })
  if (wrongs.length === 0) return null
  const told = wrongs
    .slice(0, toldMax)
    .map(({ line, why }) => t('many.line', { line, why: t(`many.line.${why}`) }))
  const more = wrongs.length - told.length
  return [...told, ...(more > 0 ? [t('many.line.more', { n: more })] : [])].join(' ')
}
