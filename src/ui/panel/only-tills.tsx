import { useEffect, useState } from 'preact/hooks'
import { changeOnlyAuthorizedTills, fetchOnlyAuthorizedTills } from '../../client/shops.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Check } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { shopWords as t } from '../words/shop.ts'
import { failureText } from '../words/signer.ts'
import { session } from './state.ts'

/** The switch that lets only authorised tills redeem. `alone`: no till is authorised yet. */
export function OnlyTills({ alone }: { alone: boolean }) {
  const [only, setOnly] = useState<boolean | null>(null)
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
      <Check label={t('tills.only')} checked={only === true} onChange={change} />
      <p class="soft small">{t('tills.only.why')}</p>
      {only === true && alone && <Notice tone="wait">{t('tills.only.none')}</Notice>}
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
    </section>
  )
}
