import { npubEncode } from 'nostr-tools/nip19'
import { useEffect } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { tillWords as t } from '../words/till.ts'
import { hasKey, loadMintable, session } from './issue-state.ts'
import { tab } from './state.ts'

/** The way to an authorised till: its QR for the merchant, or the key that it lacks yet. */
export function TillKey() {
  const who = session.who.value
  // The service may have ended the session: this request asks for another, which the claim did not.
  useEffect(() => {
    if (who) void loadMintable()
  }, [])
  if (who) {
    return (
      <>
        <p>{t('done.barred.show')}</p>
        <div class="qr-frame">
          <QrCode text={npubEncode(who.pubkey)} label={t('issue.key.qr')} />
        </div>
      </>
    )
  }
  const openKey = () => {
    tab.value = 'issue'
  }
  return (
    <>
      <p>{t(hasKey.value ? 'done.barred.locked' : 'done.barred.keyless')}</p>
      <Button big icon="key" onClick={openKey}>
        {t(hasKey.value ? 'key.unlock' : 'key.create')}
      </Button>
    </>
  )
}
