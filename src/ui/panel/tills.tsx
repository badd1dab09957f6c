import { useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import type { Minter } from '../../client/models.ts'
import { npubOf } from '../../nostr/keys.ts'
import { linkReach } from '../browser/share.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { say } from '../parts/toast.tsx'
import { tillAddress } from '../state/shops.ts'
import { day } from '../words/format.ts'
import { shopWords as t } from '../words/shop.ts'
import { failureText } from '../words/signer.ts'
import { KeyField } from './key-field.tsx'
import { OnlyTills } from './only-tills.tsx'
import { addMinter, permitMinter, removeMinter, session } from './state.ts'
import { TillLink } from './till-link.tsx'

/** Whether a till may issue, or only redeem. */
type May = 'mint' | 'redeem'

const permissions = () =>
  [
    ['mint', t('tills.may.mint')],
    ['redeem', t('tills.may.redeem')],
  ] as const

/** The tills: keys that redeem for the merchant, and issue if they may. */
export function Tills({ minters }: { minters: readonly Minter[] }) {
  const [removing, setRemoving] = useState<Minter | null>(null)
  const { failure, attempt } = useAttempt()
  const till = `${location.origin}/caja`
  const pubkey = session.who.value?.pubkey
  return (
    <div class="stack wide">
      <div class="stack tight">
        <h1>{t('tills.title')}</h1>
        <p class="soft">{t('tills.lead')}</p>
      </div>
      <div class="beside">
        <section class="sheet stack till-door">
          <p>{t('tills.how')}</p>
          <div class="qr-box small-qr">
            {/* With the shop in the address, the new till need not ask whose it is. */}
            <QrCode text={pubkey ? tillAddress(npubOf(pubkey)) : till} label={t('tills.qr')} />
          </div>
          <p class="mono small">{till}</p>
          {linkReach() === 'device' && <Notice tone="idle">{t('local.only')}</Notice>}
          <TillLink>{t('tills.open')}</TillLink>
        </section>
        <AddTill />
      </div>
      <OnlyTills alone={minters.length === 0} />
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {minters.length === 0 ? (
        <Empty icon="people" title={t('tills.empty')} />
      ) : (
        <ul class="stack tight">
          {minters.map((minter) => (
            <li key={minter.pubkey} class="person">
              <span class="way-icon">
                <Icon name="shop" />
              </span>
              <span class="grow">
                <strong>{minter.label ?? t('tills.unnamed')}</strong>
                <span class="soft small">{t('tills.since', { day: day(minter.createdAt) })}</span>
                <ShopKey npub={minter.npub} />
                <Select<May>
                  label={t('tills.may.label', { name: minter.label ?? t('tills.unnamed') })}
                  quiet
                  value={minter.mint === false ? 'redeem' : 'mint'}
                  options={permissions()}
                  onChoose={(may) =>
                    void attempt(() => permitMinter(minter.pubkey, may === 'mint'))
                  }
                />
              </span>
              <button
                type="button"
                class="button quiet"
                aria-label={t('tills.remove.label', { name: minter.label ?? t('tills.unnamed') })}
                onClick={() => setRemoving(minter)}
              >
                {t('tills.remove')}
              </button>
            </li>
          ))}
        </ul>
      )}
      {removing && (
        <Confirm
          title={t('tills.remove.title')}
          action={t('tills.remove')}
          danger
          onClose={() => setRemoving(null)}
          onConfirm={async () => {
            await removeMinter(removing.pubkey)
            say(t('tills.removed'))
            setRemoving(null)
          }}
        >
          <p>{t('tills.remove.why')}</p>
        </Confirm>
      )}
    </div>
  )
}

/** Authorises a key. The service takes a key or a name (NIP-05). */
function AddTill() {
  const [key, setKey] = useState('')
  const [label, setLabel] = useState('')
  const [may, setMay] = useState<May>('mint')
  const { busy, failure, attempt } = useAttempt()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void attempt(async () => {
      await addMinter(key.trim(), label, may === 'mint')
      say(t(`tills.added.${may}`))
      setKey('')
      setLabel('')
    })
  }
  return (
    <form class="sheet stack" onSubmit={submit}>
      <h2>{t('tills.add')}</h2>
      <KeyField label={t('tills.key')} hint={t('tills.key.hint')} value={key} onText={setKey} />
      <Field
        label={t('tills.label')}
        placeholder={t('tills.label.example')}
        maxLength={clientLimits.labelCharsMax}
        value={label}
        onText={setLabel}
      />
      <Select<May> label={t('tills.may')} value={may} options={permissions()} onChoose={setMay} />
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      <Button kind="primary" type="submit" icon="check" busy={busy}>
        {t('tills.do')}
      </Button>
    </form>
  )
}
