import { useEffect, useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { addMerchant, removeMerchant } from '../../client/management.ts'
import type { Merchant } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Badge } from '../parts/notice.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { say } from '../parts/toast.tsx'
import { knownName } from '../state/merchant-names.ts'
import { parseShop } from '../state/shops.ts'
import { day } from '../words/format.ts'
import { panelWords as t } from '../words/panel.ts'
import { KeyField } from './key-field.tsx'
import { loadRoster } from './roster.ts'
import { session } from './state.ts'

/** The merchants of this service, for the owner, who adds and removes them. Others see nothing. */
export function Merchants() {
  const [list, setList] = useState<readonly Merchant[] | null>(null)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Merchant | null>(null)
  const load = async () => setList(await loadRoster())
  useEffect(() => void load(), [])
  // Not loaded yet, or not for this key: no heading without a list.
  if (list === null) return null
  const me = session.who.value?.pubkey
  return (
    <section class="stack tight" aria-labelledby="merchants">
      <h2 id="merchants">{t('merchants.title')}</h2>
      <p class="soft">{t('merchants.why')}</p>
      <ul class="stack tight">
        {list.map((merchant) => (
          <li key={merchant.pubkey} class="person">
            <span class="way-icon">
              <Icon name="shop" />
            </span>
            <span class="grow">
              <strong>
                {/* A label is a stranger's text and may be written from right to left. */}
                <bdi>{nameOf(merchant)}</bdi>
              </strong>
              <span class="soft small">
                {t('merchants.since', { day: day(merchant.createdAt) })}
              </span>
              <ShopKey npub={merchant.npub} />
            </span>
            {/* The owner is removed on the machine of the service only, or nobody could let anyone in. */}
            {merchant.owner ? (
              <Badge tone="accent">
                {t(merchant.pubkey === me ? 'merchants.me' : 'merchants.owner')}
              </Badge>
            ) : (
              <button
                type="button"
                class="button quiet"
                aria-label={t('merchants.remove.label', { name: nameOf(merchant) })}
                onClick={() => setRemoving(merchant)}
              >
                {t('merchants.remove')}
              </button>
            )}
          </li>
        ))}
      </ul>
      <div>
        <Button icon="plus" onClick={() => setAdding(true)}>
          {t('merchants.add')}
        </Button>
      </div>
      {adding && <AddMerchant onClose={() => setAdding(false)} onAdded={load} />}
      {removing && (
        <Confirm
          title={t('merchants.remove.title', { name: nameOf(removing) })}
          action={t('merchants.remove')}
          danger
          onClose={() => setRemoving(null)}
          onConfirm={async () => {
            await removeMerchant(session, removing.npub)
            await load()
            say(t('merchants.removed'))
            setRemoving(null)
          }}
        >
          <p>{t('merchants.remove.why')}</p>
        </Confirm>
      )}
    </section>
  )
}

/** The label of a merchant, else the name that it gave itself. */
function nameOf({ label, npub }: Merchant): string {
  return label ?? knownName(npub) ?? t('merchants.unnamed')
}

type AddProps = { onClose: () => void; onAdded: () => Promise<void> }

function AddMerchant({ onClose, onAdded }: AddProps) {
  const [key, setKey] = useState('')
  const [label, setLabel] = useState('')
  const [wrong, setWrong] = useState(false)
  const { busy, failure, attempt } = useAttempt()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const npub = parseShop(key)
    setWrong(npub === null)
    if (npub === null) return
    void attempt(async () => {
      await addMerchant(session, npub, label)
      await onAdded()
      say(t('merchants.added'))
      onClose()
    })
  }
  return (
    <Dialog title={t('merchants.add')} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>{t('merchants.add.how')}</p>
        <KeyField
          data-begin
          label={t('merchants.key')}
          hint={t('merchants.key.hint')}
          value={key}
          onText={(typed) => {
            setWrong(false)
            setKey(typed)
          }}
          error={wrong ? t('merchants.key.wrong') : null}
        />
        <Field
          label={t('merchants.label')}
          placeholder={t('merchants.label.example')}
          maxLength={clientLimits.labelCharsMax}
          value={label}
          onText={setLabel}
        />
        {failure !== null && <Failure cause={failure} />}
        <Button kind="primary" type="submit" icon="check" busy={busy}>
          {t('merchants.do')}
        </Button>
      </form>
    </Dialog>
  )
}
