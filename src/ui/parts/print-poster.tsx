import { signal } from '@preact/signals'
import { createPortal } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Definition, Poster } from '../../client/models.ts'
import { loadedPath } from '../browser/load-picture.ts'
import { linkReach, posterLink } from '../browser/share.ts'
import { benefitText, plainBenefitText, shownName } from '../words/benefit-text.ts'
import { commonWords } from '../words/common.ts'
import { day, momentOnPaper } from '../words/format.ts'
import { paperWords as t } from '../words/poster-paper.ts'
import { postersWords } from '../words/posters.ts'
import { rulesLines } from '../words/rules-text.ts'
import type { PrintedWifi } from './print.tsx'
import { measurePoster, type PosterFormat, posterLook } from './print-fit.ts'
import { usePrinting } from './printing.ts'
import { QrCode } from './qr-code.tsx'

/** `shop`: null where its name is unknown; the paper shows no key. `wifi`: its code stands below the one of the poster. */
type Job = {
  format: PosterFormat
  poster: Poster
  coupon: Definition
  shop: string | null
  /** The path of its logo, or null. */
  logo: string | null
  wifi: PrintedWifi | null
}

const job = signal<Job | null>(null)

export async function printPoster(next: Job): Promise<void> {
  job.value = { ...next, logo: await loadedPath(next.logo) }
}

/** The poster on its paper, which only a printer shows. */
export function PosterRoom() {
  const current = job.value
  const [fitted, setFitted] = useState<{ job: Job; scale: number } | null>(null)
  const scale = fitted?.job === current ? fitted?.scale : undefined
  const paper = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!current || scale !== undefined || !paper.current) return
    setFitted({ job: current, scale: measurePoster(paper.current, current.format) })
  }, [current, scale])
  usePrinting(job, scale !== undefined)
  if (!current) return null
  const measured = scale === undefined
  return createPortal(
    <div
      key={measured ? 'measured' : 'printed'}
      ref={paper}
      {...posterLook(current.format, scale ?? 1, measured)}
      aria-hidden={measured}
    >
      <PosterPaper {...current} />
    </div>,
    document.body,
  )
}

function PosterPaper({ poster, coupon, shop, logo, wifi }: Job) {
  const { name, description, benefit, expiresAt, rules } = coupon
  const title = shownName(name, benefit)
  const fine = [
    ...(description === '' ? [] : [description]),
    ...rulesLines(rules),
    ...limitLines(poster),
    expiresAt === null
      ? commonWords('coupon.forever')
      : commonWords('coupon.until', { day: day(expiresAt) }),
  ]
  return (
    <section class="poster-sheet">
      {logo !== null && <img class="poster-logo" src={logo} alt="" decoding="sync" />}
      {shop !== null && <p class="poster-shop">{shop}</p>}
      <p class="poster-name">{title}</p>
      {title !== plainBenefitText(benefit) && <p class="poster-benefit">{benefitText(benefit)}</p>}
      <div class="poster-qr">
        <QrCode text={posterLink(poster.id)} label={postersWords('qr')} />
      </div>
      <p class="poster-scan">{t(linkReach() === 'network' ? 'scan.network' : 'scan')}</p>
      {/* Before the terms: these may go on to another page. */}
      {wifi && (
        <div class="poster-wifi">
          <p class="poster-fine">{commonWords('print.wifi', { network: wifi.network })}</p>
          <QrCode text={wifi.code} label={commonWords('print.wifi', { network: wifi.network })} />
        </div>
      )}
      {fine.map((line) => (
        <p key={line} class="poster-fine">
          {line}
        </p>
      ))}
    </section>
  )
}

/** The limits of a poster in words. */
function limitLines({ perPerson, perDay, total, startsAt, endsAt }: Poster): string[] {
  return [
    t('person', { n: perPerson }),
    ...(perDay === null ? [] : [t('day', { n: perDay })]),
    ...(total === null ? [] : [t('total', { n: total })]),
    ...(startsAt === null ? [] : [t('from', { when: momentOnPaper(startsAt) })]),
    ...(endsAt === null ? [] : [t('until', { when: momentOnPaper(endsAt) })]),
  ]
}
