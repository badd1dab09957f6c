import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Check, Select } from '../parts/field.tsx'
import { Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { printerWords as t } from '../words/printer.ts'
import { trialTicket } from './coupon-ticket.ts'
import type { PrinterTrouble } from './device.ts'
import {
  baudRates,
  type Cable,
  hasPrinter,
  keepPrinter,
  printerCables,
  printerSettings,
} from './settings.ts'
import { troubleOrThrow } from './ticket-button.tsx'

/** The settings of the ticket printer, where this browser can have one. */
export function PrinterView() {
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<PrinterTrouble | null>(null)
  const cables = printerCables()
  if (cables.length === 0) return null
  const attempt = async (work: (printing: typeof import('./printing.ts')) => Promise<void>) => {
    setBusy(true)
    setTrouble(null)
    try {
      await work(await import('./printing.ts'))
    } catch (cause) {
      setTrouble(troubleOrThrow(cause))
    } finally {
      setBusy(false)
    }
  }
  const choose = (cable: Cable) =>
    attempt(async ({ choosePrinter }) => {
      if (await choosePrinter(cable)) keepPrinter({ cable })
    })
  const tryOut = () =>
    attempt(async ({ printTicket }) => {
      await printTicket(trialTicket())
      say(t('ticket.done'))
    })
  const { cable, width, accents, speed } = printerSettings.value
  return (
    <section class="sheet stack" aria-label={t('printer.title')}>
      <h2>{t('printer.title')}</h2>
      <p class="soft">{hasPrinter() && cable ? t(`printer.chosen.${cable}`) : t('printer.lead')}</p>
      <div class="actions">
        {cables.map((one) => (
          <Button key={one} icon="print" busy={busy} onClick={() => void choose(one)}>
            {t(`printer.choose.${one}`)}
          </Button>
        ))}
      </div>
      {hasPrinter() && (
        <>
          <Select
            label={t('printer.width')}
            value={`${width}`}
            options={(['58', '80'] as const).map((one) => [one, t(`printer.width.${one}`)])}
            onChoose={(one) => keepPrinter({ width: one === '80' ? 80 : 58 })}
          />
          {cable === 'serial' && (
            <Select
              label={t('printer.speed')}
              value={`${speed}`}
              options={baudRates.map((one) => [`${one}`, `${one}`])}
              onChoose={(chosen) => {
                const rate = baudRates.find((one) => `${one}` === chosen)
                if (rate) keepPrinter({ speed: rate })
              }}
            />
          )}
          <Check
            label={t('printer.accents')}
            checked={accents}
            onChange={(on) => keepPrinter({ accents: on })}
          />
          <div class="actions">
            <Button kind="primary" icon="print" busy={busy} onClick={() => void tryOut()}>
              {t('printer.trial.do')}
            </Button>
            <Button kind="quiet" icon="trash" onClick={() => keepPrinter({ cable: null })}>
              {t('printer.forget')}
            </Button>
          </div>
        </>
      )}
      {trouble !== null && <Notice tone="bad">{t(`trouble.${trouble}`)}</Notice>}
    </section>
  )
}
