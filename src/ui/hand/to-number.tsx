import { useState } from 'preact/hooks'
import { whatsappLink } from '../browser/share.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { handWords as t } from '../words/hand.ts'
import { type Phone, parsePhone } from './phone.ts'
import { forgetRecipient, recipients, rememberRecipient } from './recipients.ts'

type Props = {
  message: string
  /** Called before WhatsApp opens; `text`: the number as a person reads it. */
  onSend?: (text: string) => void
}

/** Writes the message to one number, typed or used lately. */
export function ToNumber({ message, onSend }: Props) {
  const [typed, setTyped] = useState('')
  const [tried, setTried] = useState(false)
  const phone = parsePhone(typed)
  const known = typeof phone === 'object'
  const write = (to: Phone) => {
    rememberRecipient(to)
    onSend?.(to.text)
    window.open(whatsappLink(message, to.digits), '_blank', 'noreferrer')
  }
  return (
    <details>
      <summary>{t('number.offer')}</summary>
      <div class="stack">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            setTried(!known)
            if (known) write(phone)
          }}
        >
          <Field
            label={t('number.label')}
            hint={known ? t('number.used', { number: phone.text }) : t('number.hint')}
            error={tried && !known ? t(`number.${phone}`) : null}
            type="tel"
            inputMode="tel"
            autoComplete="off"
            maxLength={40}
            value={typed}
            onText={(text) => {
              setTried(false)
              setTyped(text)
            }}
          />
          <Button type="submit" icon="chat">
            {t('number.do')}
          </Button>
        </form>
        {recipients.value.length > 0 && (
          <section class="stack tight" aria-label={t('number.recent')}>
            <p class="soft small">{t('number.recent')}</p>
            <ul class="recipients">
              {recipients.value.map((one) => (
                <li key={one.digits} class="row">
                  <Button kind="quiet" icon="chat" class="grow" onClick={() => write(one)}>
                    {one.text}
                  </Button>
                  <IconButton
                    icon="trash"
                    label={t('number.forget', { number: one.text })}
                    onClick={() => forgetRecipient(one)}
                  />
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </details>
  )
}
