import { npubEncode } from 'nostr-tools/nip19'
import { cameraTrouble } from '../browser/camera.ts'
import { canServeOffline, install, installed, installer } from '../browser/install.ts'
import { canShare } from '../browser/share.ts'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/field.tsx'
import { Badge } from '../parts/notice.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { PrinterView } from '../printer/printer-view.tsx'
import { printerCables } from '../printer/settings.ts'
import { tillWords as t } from '../words/till.ts'
import { ForgetKey } from './forget-key.tsx'
import { hasKey, keyBox, tillName } from './issue-state.ts'
import { Shops } from './shop-view.tsx'
import { play, soundOn, switchSound } from './sound.ts'
import { TlsHelp } from './tls-help.tsx'

/** Settings of the till, its abilities on this device, and the reasons for those it lacks. */
export function SettingsView() {
  return (
    <div class="stack wide">
      <h1>{t('settings.title')}</h1>
      <Able />
      <section class="sheet stack" aria-labelledby="sounds">
        <h2 id="sounds">{t('settings.sound')}</h2>
        <div class="row apart">
          <Check label={t('settings.sound')} checked={soundOn.value} onChange={switchSound} />
          <Button icon="sound" disabled={!soundOn.value} onClick={() => play('success')}>
            {t('settings.sound.try')}
          </Button>
        </div>
      </section>
      <PrinterView />
      <Shops />
      <Key />
    </div>
  )
}

/** The abilities of this device. On plain http most are missing, and one reason explains them all. */
function Able() {
  const secure = window.isSecureContext
  const rows = [
    ['camera', cameraTrouble() === null],
    ['offline', canServeOffline()],
    ['install', installer.value !== null || installed()],
    ['share', canShare()],
    ['ticket', printerCables().length > 0],
  ] as const
  const missing = rows.some(([, able]) => !able)
  return (
    <section class="sheet stack" aria-labelledby="able">
      <h2 id="able">{t('settings.able')}</h2>
      <ul class="lines">
        {rows.map(([what, able]) => (
          <li key={what} class="row apart">
            <span class="grow">
              {t(`able.${what}`)}
              {!able && (
                <>
                  <br />
                  <span class="soft small">
                    {t(
                      !secure
                        ? 'able.why.http'
                        : `able.why.${what === 'install' ? 'install' : 'browser'}`,
                    )}
                  </span>
                </>
              )}
            </span>
            <Badge tone={able ? 'good' : 'idle'}>{t(able ? 'able.yes' : 'able.no')}</Badge>
          </li>
        ))}
      </ul>
      {installer.value && (
        <Button kind="primary" icon="download" onClick={() => void install()}>
          {t('install.action')}
        </Button>
      )}
      {missing && !secure && (
        <p class="small">
          <TlsHelp />
        </p>
      )}
    </section>
  )
}

/** The till's own key. */
function Key() {
  const kept = hasKey.value ? keyBox.find() : null
  if (!kept) return null
  const npub = npubEncode(kept.pubkey)
  return (
    <section class="sheet stack center" aria-labelledby="key">
      <h2 id="key">{t('key.title')}</h2>
      {tillName.value !== null && <p>{t('key.named', { name: tillName.value })}</p>}
      <div class="qr-frame">
        <QrCode text={npub} label={t('issue.key.qr')} />
      </div>
      <ShopKey npub={npub} />
      <ForgetKey />
    </section>
  )
}
