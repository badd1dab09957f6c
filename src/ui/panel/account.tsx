import { useState } from 'preact/hooks'
import { npubOf } from '../../nostr/keys.ts'
import { saveFile } from '../browser/clipboard.ts'
import { device } from '../browser/storage.ts'
import { arrive } from '../parts/arrival.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { PrinterView } from '../printer/printer-view.tsx'
import { ownShopWords as own } from '../words/own-shop.ts'
import { panelWords as t } from '../words/panel.ts'
import { Announcement } from './announcement.tsx'
import { backupText } from './backup-text.ts'
import { ChangePin } from './change-pin.tsx'
import { CopyShown } from './copy-shown.tsx'
import { later } from './later.tsx'
import { Merchants } from './merchants.tsx'
import { SecondCopy } from './second-copy.tsx'
import { ShopForm } from './shop-form.tsx'
import { keyBox, overview, session, signOut } from './state.ts'

const MoveOut = later(async () => (await import('./move-out.tsx')).MoveOut)

/** The dialog about the merchant's key: backup, announcement, other merchants, sign-out. */
export function Account() {
  const [open, setOpen] = useState(false)
  const who = session.who.value
  if (!who) return null
  const npub = npubOf(who.pubkey)
  return (
    <>
      <IconButton icon="settings" label={t('me.title')} onClick={() => setOpen(true)} />
      {open && (
        <Dialog title={t('me.title')} onClose={() => setOpen(false)}>
          <div class="stack wide">
            {overview.value && (
              <section class="stack tight" aria-label={own('shop.title')}>
                <h2>{own('shop.title')}</h2>
                <ShopForm colors />
              </section>
            )}
            <div class="stack tight">
              <p>{t('me.public')}</p>
              <ShopKey npub={npub} />
              <div>
                <CopyButton text={npub} />
              </div>
            </div>
            {/* Other signers hold their key themselves. */}
            {who.kind === 'local' && (
              <>
                <Backup pubkey={who.pubkey} />
                <ChangePin pubkey={who.pubkey} onChanged={forgetBackup} />
              </>
            )}
            {overview.value && (
              <section class="stack tight" aria-label={t('me.announcement')}>
                <h2>{t('me.announcement')}</h2>
                <p class="soft">{t('start.announce.why')}</p>
                <Announcement announced={overview.value.discovery?.id ?? null} manage />
              </section>
            )}
            <PrinterView />
            <Merchants />
            {/* The file has all keys, so the service gives it over a safe connection only. */}
            {overview.value && window.isSecureContext && (
              <MoveOut onBackup={who.kind === 'local' ? showBackup : null} />
            )}
            <Button kind="danger" icon="exit" wide onClick={signOut}>
              {t('me.out')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** Place of the key that was backed up last, on this device. */
const backedUp = 'backed-up'

/** Whether this device has the only copy of a key, as far as a page can know. */
export function needsBackup(pubkey: string): boolean {
  return device.read(backedUp) !== pubkey
}

function showBackup(): void {
  const heading = document.querySelector<HTMLElement>('dialog .backup h2')
  arrive(heading)
  heading?.scrollIntoView()
}

/** A backup opens with the PIN of its day, so a new PIN wants a new one. */
function forgetBackup(): void {
  device.remove(backedUp)
}

type BackupProps = {
  /** The key of the session. */
  pubkey: string
  onDone?: () => void
}

/** Offers the encrypted key as a file or a text. Without it, a lost device loses all coupons of the merchant. */
export function Backup({ pubkey, onDone }: BackupProps) {
  const kept = keyBox.find()
  // Another tab may have stored another key: its backup would be taken for that of this one.
  if (kept?.pubkey !== pubkey) return null
  const done = () => {
    device.write(backedUp, kept.pubkey)
    onDone?.()
  }
  const save = () => {
    saveFile('cuponera-clave.txt', new Blob([backupText(kept)], { type: 'text/plain' }))
    done()
  }
  return (
    <section class="sheet stack backup" aria-label={t('backup.title')}>
      <h2>{t('backup.title')}</h2>
      <p>{t('backup.why')}</p>
      {/* A private window: closing it loses the key, so there is no later. */}
      {!keyBox.lasts() && <Notice tone="bad">{t('key.fleeting')}</Notice>}
      <div class="row">
        <Button kind="primary" icon="download" onClick={save}>
          {t('backup.save')}
        </Button>
        {/* In the account dialog it is always there, so nothing needs to be put away. */}
        {onDone && (
          <Button kind="quiet" onClick={done}>
            {t('backup.done')}
          </Button>
        )}
      </div>
      <CopyShown text={kept.ncryptsec} />
      <SecondCopy pubkey={pubkey} />
    </section>
  )
}
