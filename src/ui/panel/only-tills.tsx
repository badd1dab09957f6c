import { useEffect, useState } from 'preact/hooks'
import { changeOnlyAuthorizedTills, fetchOnlyAuthorizedTills } from '../../client/shops.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Check } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { shopWords as t } from '../words/shop.ts'
import { failureText } from '../words/signer.ts'
import { session } from './state.ts'

/** The switch that lets only authorised tills redeem. `alone`: no till is authorised yet. */
export function OnlyTills({ alone }: { alone: boolean }) {
  const [only, setOnly] = useState<boolean | null>(null)
  const [asking, setAsking] = useState(false)
  const { busy, failure, attempt } = useAttempt()
  useEffect(() => void attempt(async () => setOnly(await fetchOnlyAuthorizedTills(session))), [])
  const change = (wanted: boolean) => {
    if (busy) return
    setOnly(wanted)
    void attempt(async () => {
      try {
        setOnly(await changeOnlyAuthorizedTills(session, wanted))
      } catch (cause) {
        // The switch shows what the service does.
        setOnly(!wanted)
        throw cause
      }
    })
  }
  return (
    <section class="sheet stack tight">
      <Check
        label={t('tills.only')}
        checked={only === true}
        // Without an authorised till, no customer could redeem from then on.
        onChange={(wanted) => (wanted && alone ? setAsking(true) : change(wanted))}
      />
      <p class="soft small">{t('tills.only.why')}</p>
      {only === true && alone && <Notice tone="wait">{t('tills.only.none')}</Notice>}
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {asking && (
        <Confirm
          title={t('tills.only.ask')}
          action={t('tills.only.ask.do')}
          danger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            setAsking(false)
            change(true)
          }}
        >
          <p>{t('tills.only.ask.why')}</p>
        </Confirm>
      )}
    </section>
  )
}
