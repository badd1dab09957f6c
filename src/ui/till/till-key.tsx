import { npubEncode } from 'nostr-tools/nip19'
import { useEffect } from 'preact/hooks'
import { QrCode } from '../parts/qr-code.tsx'
import { tillWords as t } from '../words/till.ts'
import { hasKey, loadMintable, session } from './issue-state.ts'
import { KeyBeside } from './key-view.tsx'
import { RestingButton } from './resting.tsx'
import { lookAgain } from './state.ts'

/** The way to an authorised till: its QR for the merchant, or the key that it lacks yet. */
export function TillKey() {
  const who = session.who.value
  useEffect(() => {
    if (who) void renew()
  }, [])
  if (who) {
    return (
      <>
        <p>{t('done.barred.show')}</p>
        <div class="qr-frame">
          <QrCode text={npubEncode(who.pubkey)} label={t('issue.key.qr')} />
        </div>
        <RestingButton kind="primary" big onClick={lookAgain}>
          {t('again')}
        </RestingButton>
      </>
    )
  }
  return (
    <>
      <p>{t(hasKey.value ? 'done.barred.locked' : 'done.barred.keyless')}</p>
      <KeyBeside onOpen={lookAgain} />
    </>
  )
}

/** The service may have ended the session: this request asks for another, and the coupon is looked at again with it. */
async function renew(): Promise<void> {
  const before = session.atHand()
  await loadMintable()
  const now = session.atHand()
  if (now !== null && now !== before) lookAgain()
}
