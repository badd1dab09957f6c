import { useState } from 'preact/hooks'
import { Button, IconButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { QrReader } from '../parts/qr-reader.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { say } from '../parts/toast.tsx'
import { merchantName } from '../state/merchant-names.ts'
import { addShop, parseShop, removeShop, shops } from '../state/shops.ts'
import { tillWords as t } from '../words/till.ts'
import { acceptOffer, declineOffer, offered } from './state.ts'

/** The name of a shop. Anybody may use it, so nothing is decided by it. */
export function ShopName({ npub }: { npub: string }) {
  return <bdi>{merchantName(npub)}</bdi>
}

/** The warning beside a question about a shop: a name alone proves nothing. */
export function ShopDoubt({ npub }: { npub: string }) {
  return (
    <div class="stack tight">
      <p class="soft">{t('shop.doubt')}</p>
      <ShopKey npub={npub} why={t('shop.check')} />
    </div>
  )
}

/** Asks before a QR sets up the till: a QR is untrusted text, and anybody can print one. */
export function AskOffered() {
  const npub = offered.value
  if (npub === null) return null
  const [first] = shops.value
  return (
    <Dialog title={t('shop.ask', { who: merchantName(npub) })} onClose={declineOffer}>
      <div class="stack">
        <p>
          {first === undefined
            ? t('shop.offer')
            : t('shop.offer.more', { who: merchantName(first) })}
        </p>
        <ShopDoubt npub={npub} />
      </div>
      <div class="dialog-foot">
        <Button onClick={declineOffer}>{t('shop.no')}</Button>
        <Button
          kind="primary"
          icon="check"
          onClick={() => {
            acceptOffer()
            say(t('shop.added'))
          }}
        >
          {t('shop.yes')}
        </Button>
      </div>
    </Dialog>
  )
}

/** The list of this till's shops, to be changed. */
export function Shops() {
  const [adding, setAdding] = useState(false)
  const list = shops.value
  return (
    <section class="sheet stack" aria-labelledby="shops">
      <h2 id="shops">{t('settings.shop')}</h2>
      <p class="soft">{t(list.length === 0 ? 'settings.shop.none' : 'settings.shop.why')}</p>
      {list.length > 0 && (
        <ul class="lines">
          {list.map((npub) => (
            <li key={npub} class="row apart">
              <span class="grow">
                <ShopName npub={npub} />
                <ShopKey npub={npub} />
              </span>
              <IconButton
                icon="trash"
                label={t('settings.shop.remove', { who: merchantName(npub) })}
                onClick={() => removeShop(npub)}
              />
            </li>
          ))}
        </ul>
      )}
      <div>
        <Button icon="plus" onClick={() => setAdding(true)}>
          {t('shop.add')}
        </Button>
      </div>
      {adding && <AddShop onClose={() => setAdding(false)} />}
    </section>
  )
}

function AddShop({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState(false)
  const take = (read: string) => {
    const npub = parseShop(read)
    setWrong(npub === null)
    if (npub === null) return setText(read)
    addShop(npub)
    say(t('shop.added'))
    onClose()
  }
  return (
    <Dialog title={t('shop.add')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          take(text)
        }}
      >
        <p>{t('shop.add.how')}</p>
        <QrReader onRead={take} />
        <Field
          label={t('shop.key')}
          hint={t('shop.key.hint')}
          autoComplete="off"
          spellcheck={false}
          value={text}
          onText={(typed) => {
            setWrong(false)
            setText(typed)
          }}
        />
        {wrong && <Notice tone="bad">{t('shop.wrong')}</Notice>}
        <Button kind="primary" type="submit" icon="check">
          {t('shop.add')}
        </Button>
      </form>
    </Dialog>
  )
}
