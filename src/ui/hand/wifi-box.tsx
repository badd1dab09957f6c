import { useState } from 'preact/hooks'
import { linkReach } from '../browser/share.ts'
import { Button } from '../parts/button.tsx'
import { Check, Field } from '../parts/field.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { say } from '../parts/toast.tsx'
import { handWords as t } from '../words/hand.ts'
import { type Wifi, wifiCode, wrongField } from './wifi.ts'
import { forgetWifi, keepWifi, printWifi, wifi, wifiPrinted } from './wifi-state.ts'

/** The code by which a customer's phone joins the shop's network, where a coupon opens only there. */
export function WifiBox() {
  const [editing, setEditing] = useState(false)
  if (linkReach() !== 'network') return null
  const known = wifi.value
  return (
    <section class="stack tight wifi" aria-label={t('wifi.title')}>
      {known && !editing ? (
        <Joined known={known} onEdit={() => setEditing(true)} />
      ) : (
        <details open={editing}>
          <summary>{t('wifi.offer')}</summary>
          <WifiForm known={known} onDone={() => setEditing(false)} />
        </details>
      )}
    </section>
  )
}

function Joined({ known, onEdit }: { known: Wifi; onEdit: () => void }) {
  return (
    <>
      <p>{t('wifi.how', { network: known.network })}</p>
      <div class="qr-box small-qr">
        <QrCode text={wifiCode(known)} label={t('wifi.qr', { network: known.network })} />
      </div>
      <details>
        <summary>{t('wifi.settings')}</summary>
        <Check label={t('wifi.print')} checked={wifiPrinted.value} onChange={printWifi} />
        <div class="row">
          <Button kind="quiet" icon="edit" onClick={onEdit}>
            {t('wifi.edit')}
          </Button>
          <Button kind="quiet" icon="trash" onClick={forgetWifi}>
            {t('wifi.forget')}
          </Button>
        </div>
      </details>
    </>
  )
}

type FormProps = { known: Wifi | null; onDone: () => void }

function WifiForm({ known, onDone }: FormProps) {
  const [draft, setDraft] = useState<Wifi>(known ?? { network: '', key: '', hidden: false })
  const [wrong, setWrong] = useState<ReturnType<typeof wrongField>>(null)
  const change = (part: Partial<Wifi>) => {
    setWrong(null)
    setDraft({ ...draft, ...part })
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const found = wrongField(draft)
    setWrong(found)
    if (found !== null) return
    if (!keepWifi(draft)) say(t('wifi.unkept'), 'wait')
    onDone()
  }
  return (
    <form class="stack" onSubmit={submit}>
      <p class="soft small">{t('wifi.private')}</p>
      <Field
        label={t('wifi.network')}
        autoComplete="off"
        spellcheck={false}
        value={draft.network}
        onText={(network) => change({ network })}
        error={wrong === 'network' ? t('wifi.network.wrong') : null}
      />
      <Field
        label={t('wifi.key')}
        hint={t('wifi.key.hint')}
        autoComplete="off"
        spellcheck={false}
        value={draft.key}
        onText={(key) => change({ key })}
        error={wrong === 'key' ? t('wifi.key.wrong') : null}
      />
      <Check
        label={t('wifi.hidden')}
        checked={draft.hidden}
        onChange={(hidden) => change({ hidden })}
      />
      <Button icon="check" type="submit">
        {t('wifi.do')}
      </Button>
    </form>
  )
}
