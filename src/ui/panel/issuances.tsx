import { useState } from 'preact/hooks'
import { limits } from '../../base/limits.ts'
import { listIssuances } from '../../client/management.ts'
import type { Definition, Issuance } from '../../client/models.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { say } from '../parts/toast.tsx'
import { couponWords as t } from '../words/coupons.ts'
import { moment, short } from '../words/format.ts'
import { failureText } from '../words/signer.ts'
import { Chain } from './chain.tsx'
import { useReload } from './reload.ts'
import { nameOfKey, session, voidVoucher } from './state.ts'
import { toneOf } from './tones.ts'

/** The vouchers of a coupon, by handle: their nonces would let anybody redeem them. */
export function Issuances({ coupon }: { coupon: Definition }) {
  const [issuances, setIssuances] = useState<readonly Issuance[] | null>(null)
  const [next, setNext] = useState<string | null>(null)
  const [voiding, setVoiding] = useState<Issuance | null>(null)
  const [followed, setFollowed] = useState<Issuance | null>(null)
  const { busy, failure: loadFailure, attempt } = useAttempt()
  const reloadFailure = useReload(coupon.id, async () => {
    // As many rows as were shown: a reload must not take away rows that somebody reads.
    const limit = Math.min(limits.pageMax, Math.max(25, issuances?.length ?? 0))
    const page = await listIssuances(session, coupon.id, { limit })
    return () => {
      setIssuances(page.mints)
      setNext(page.next)
    }
  })
  const failure = reloadFailure ?? loadFailure

  const more = () =>
    void attempt(async () => {
      const page = await listIssuances(session, coupon.id, { cursor: next })
      setIssuances([...(issuances ?? []), ...page.mints])
      setNext(page.next)
    })
  // One row changes; loading the list again could move the others under the finger.
  const replace = (changed: Issuance) =>
    setIssuances(issuances?.map((one) => (one.handle === changed.handle ? changed : one)) ?? null)

  if (issuances === null) {
    return failure === null ? (
      <p class="soft">{t('loading')}</p>
    ) : (
      <Notice tone="bad">{failureText(failure)}</Notice>
    )
  }
  if (issuances.length === 0) {
    return (
      <Empty icon="ticket" title={t('issued.empty')}>
        <p>{t('issued.empty.why')}</p>
      </Empty>
    )
  }
  return (
    <div class="stack">
      <p class="soft small">{t('issued.handle.hint')}</p>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t('issued.handle')}</th>
            <th scope="col">{t('issued.status')}</th>
            <th scope="col">{t('issued.by')}</th>
            <th scope="col">{t('issued.at')}</th>
            <th scope="col">{t('issued.actions')}</th>
          </tr>
        </thead>
        <tbody>
          {issuances.map((one) => (
            <Row
              key={one.handle}
              issuance={one}
              onFollow={() => setFollowed(one)}
              onVoid={() => setVoiding(one)}
            />
          ))}
        </tbody>
      </table>
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      {next !== null && (
        <Button busy={busy} onClick={more}>
          {t('issued.more')}
        </Button>
      )}
      {voiding && (
        <Confirm
          title={t('issued.void.title')}
          action={t('issued.void')}
          danger
          onClose={() => setVoiding(null)}
          onConfirm={async () => {
            // This voucher only: the chain is voided from its own dialog.
            replace(await voidVoucher(coupon.id, voiding.handle, false))
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

type RowProps = { issuance: Issuance; onFollow: () => void; onVoid: () => void }

function Row({ issuance, onFollow, onVoid }: RowProps) {
  return (
    <tr>
      <td data-label={t('issued.handle')} class="mono">
        {short(issuance.handle)}
      </td>
      <td data-label={t('issued.status')}>
        <Badge tone={toneOf[issuance.status]}>{t(`status.${issuance.status}`)}</Badge>
      </td>
      <td data-label={t('issued.by')}>{whoIs(issuance)}</td>
      <td data-label={t('issued.at')} class="number">
        {/* The time of the status beside it. */}
        {moment(
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
          {(issuance.status === 'minted' || issuance.status === 'expired') && (
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

/** The issuer of a voucher: a poster, the merchant, or a till by its label. */
function whoIs({ poster, mintedBy: pubkey }: Issuance): string {
  if (poster !== undefined) return t('issued.poster')
  if (pubkey === session.who.value?.pubkey) return t('issued.me')
  return nameOfKey(pubkey) ?? t('issued.former')
}
