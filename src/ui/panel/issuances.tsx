import { useState } from 'preact/hooks'
import { clientLimits } from '../../base/limits-client.ts'
import { listIssuances } from '../../client/management.ts'
import type { Definition, Issuance } from '../../client/models.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { momentInTable, short } from '../words/format.ts'
import { failureText } from '../words/signer.ts'
import { Chain } from './chain.tsx'
import { IssuanceTools } from './issuance-tools.tsx'
import { issuerText } from './issuer-text.ts'
import { matchesWords } from './plain-text.ts'
import { RowsEnd, useRows } from './rows.tsx'
import { session, voidVoucher } from './state.ts'
import { shownStatus, toneOf } from './tones.ts'

/** Rows of the first view, and of each "more". */
const shownAtOnce = 25

/** The vouchers of a coupon, by handle: their nonces would let anybody redeem them. */
export function Issuances({ coupon }: { coupon: Definition }) {
  const [sought, setSought] = useState('')
  const [voiding, setVoiding] = useState<Issuance | null>(null)
  const [followed, setFollowed] = useState<Issuance | null>(null)
  const { rows, replace, more, busy, failure } = useRows(
    `${coupon.id} ${sought}`,
    shownAtOnce,
    (start, wanted) => gather(coupon.id, sought, start, wanted),
  )

  if (rows === null) {
    return failure === null ? (
      <p class="soft">{t('loading')}</p>
    ) : (
      <Notice tone="bad">{failureText(failure)}</Notice>
    )
  }
  if (rows.length === 0 && sought === '') {
    return (
      <Empty icon="ticket" title={t('issued.empty')}>
        <p>{t('issued.empty.why')}</p>
      </Empty>
    )
  }
  // Most shops name nobody, and a card of a phone has no room for an empty line.
  const named = rows.some(({ label }) => label !== undefined)
  return (
    <div class="stack">
      <IssuanceTools
        coupon={coupon}
        searched={named || sought !== '' || more !== null}
        onSearch={setSought}
      />
      {rows.length === 0 && <p class="soft">{t('issued.none')}</p>}
      <p class="soft small">{t('issued.handle.hint')}</p>
      <table class="table" hidden={rows.length === 0}>
        <thead>
          <tr>
            <th scope="col">{t('issued.handle')}</th>
            {named && <th scope="col">{t('issued.recipient')}</th>}
            <th scope="col">{t('issued.status')}</th>
            <th scope="col">{t('issued.by')}</th>
            <th scope="col">{t('issued.at')}</th>
            <th scope="col">{t('issued.actions')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <Row
              key={one.handle}
              issuance={one}
              named={named}
              onFollow={() => setFollowed(one)}
              onVoid={() => setVoiding(one)}
            />
          ))}
        </tbody>
      </table>
      <RowsEnd more={more} busy={busy} failure={failure} />
      {voiding && (
        <Confirm
          title={t('issued.void.title')}
          action={t('issued.void')}
          danger
          onClose={() => setVoiding(null)}
          onConfirm={async () => {
            // This voucher only: the chain is voided from its own dialog.
            const { handle } = voiding
            replace((one) => one.handle === handle, await voidVoucher(coupon.id, handle, false))
            say(t('issued.voided'))
            setVoiding(null)
          }}
        >
          <p>{t('issued.void.why')}</p>
        </Confirm>
      )}
      {followed && <Chain coupon={coupon} voucher={followed} onClose={() => setFollowed(null)} />}
    </div>
  )
}

type RowProps = { issuance: Issuance; named: boolean; onFollow: () => void; onVoid: () => void }

function Row({ issuance, named, onFollow, onVoid }: RowProps) {
  const status = shownStatus(issuance)
  return (
    <tr>
      <td data-label={t('issued.handle')} class="mono">
        {short(issuance.handle)}
      </td>
      {named && <td data-label={t('issued.recipient')}>{issuance.label ?? '–'}</td>}
      <td data-label={t('issued.status')}>
        <Badge tone={toneOf[status]}>{t(`status.${status}`)}</Badge>
      </td>
      <td data-label={t('issued.by')}>{issuerText(issuance)}</td>
      <td data-label={t('issued.at')} class="number">
        {/* The time of the status beside it. */}
        {momentInTable(
          issuance.claimedAt ?? issuance.voidedAt ?? issuance.refreshedAt ?? issuance.mintedAt,
        )}
      </td>
      <td data-label={t('issued.actions')}>
        <span class="row tight-row">
          <button
            type="button"
            class="button quiet"
            aria-label={t('issued.follow.label', { handle: short(issuance.handle) })}
            onClick={onFollow}
          >
            {t('issued.follow')}
          </button>
          {issuance.status === 'minted' && (
            <button
              type="button"
              class="button quiet"
              aria-label={t('issued.void.label', { handle: short(issuance.handle) })}
              onClick={onVoid}
            >
              {t('issued.void')}
            </button>
          )}
        </span>
      </td>
    </tr>
  )
}

/** Load pages until enough rows match. The service has no search here, so this page searches. */
async function gather(couponId: string, sought: string, start: string | null, wanted: number) {
  const rows: Issuance[] = []
  let cursor = start
  do {
    const limit = sought === '' ? Math.min(clientLimits.pageMax, wanted) : clientLimits.pageMax
    const page = await listIssuances(session, couponId, { cursor, limit })
    cursor = page.next
    rows.push(...page.mints.filter(({ label = '' }) => matchesWords(label, sought)))
  } while (sought !== '' && cursor !== null && rows.length < wanted)
  return { rows, next: cursor }
}
