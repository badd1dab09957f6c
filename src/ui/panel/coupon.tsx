import { useState } from 'preact/hooks'
import { systemClock } from '../../base/clock.ts'
import { isUnavailable, shownPath } from '../../client/images.ts'
import type { Definition } from '../../client/models.ts'
import { go, hrefTo } from '../browser/route.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Badge, Notice } from '../parts/notice.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { say } from '../parts/toast.tsx'
import { shownName } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupons.ts'
import { failureText } from '../words/signer.ts'
import { Chart } from './chart.tsx'
import { HandOver } from './hand-over.tsx'
import { Issuances } from './issuances.tsx'
import { later } from './later.tsx'
import { ownColor } from './own-shop.ts'
import { Posters } from './posters.tsx'
import { changeCoupon, deleteCoupon, figuresOf, voidAll } from './state.ts'
import { Totals } from './totals.tsx'

const HandMany = later(async () => (await import('./hand-many.tsx')).HandMany)

type Part = 'issued' | 'poster' | 'chart' | 'manage'

/** One coupon: issue it, follow its vouchers, change it. */
export function Coupon({ coupon }: { coupon: Definition }) {
  const [part, setPart] = useState<Part>('issued')
  const [handing, setHanding] = useState<'one' | 'many' | null>(null)
  // The address of a picture, not a flag: a new address gets a new chance.
  const [pictureless, setPictureless] = useState<string | null>(null)
  const { minted, maxUses, expiresAt, archivedAt, image } = coupon
  const remaining = maxUses === null ? null : Math.max(0, maxUses - minted)
  const expired = expiresAt !== null && expiresAt <= systemClock()
  // The service would refuse to mint; the page says so before the tap.
  const over = archivedAt !== null || expired || remaining === 0
  // The browser does not say why a picture failed. The service is asked, since only it knows about the address.
  const lookAt = async (lost: string | null) => {
    if (await isUnavailable(lost)) setPictureless(lost)
  }
  return (
    <div class="stack wide">
      <a class="back" href={hrefTo('coupons')}>
        {t('coupon.back')}
      </a>
      <div class="row apart">
        <h1>{shownName(coupon.name, coupon.benefit)}</h1>
        {archivedAt !== null ? (
          <Badge tone="idle">{t('archived')}</Badge>
        ) : (
          expired && <Badge tone="bad">{t('status.expired')}</Badge>
        )}
      </div>
      <div class="coupon-top">
        <CouponCard
          coupon={{ ...coupon, image: shownPath(coupon) }}
          color={ownColor()}
          spent={over}
          onLost={() => void lookAt(image)}
        />
        <div class="stack">
          {image !== null && pictureless === image && (
            <Notice tone="wait" icon="image">
              {t('coupon.pictureless')}
            </Notice>
          )}
          <Totals figures={figuresOf(coupon.id)} remaining={remaining} />
          {over ? (
            <p class="soft">{t('coupon.spent')}</p>
          ) : (
            <div class="actions">
              <Button kind="primary" big icon="qr" onClick={() => setHanding('one')}>
                {t('coupon.hand')}
              </Button>
              <Button big icon="print" onClick={() => setHanding('many')}>
                {t('coupon.many')}
              </Button>
            </div>
          )}
        </div>
      </div>
      <Tabs
        label={t('tab.label')}
        chosen={part}
        onChoose={setPart}
        tabs={[
          ['issued', t('tab.issued')],
          ['poster', t('tab.poster')],
          ['chart', t('tab.chart')],
          ['manage', t('tab.manage')],
        ]}
      >
        {part === 'issued' && <Issuances coupon={coupon} />}
        {part === 'poster' && <Posters coupon={coupon} />}
        {part === 'chart' && <Chart only={coupon.id} />}
        {part === 'manage' && <Manage coupon={coupon} />}
      </Tabs>
      {handing === 'one' && <HandOver coupon={coupon} onClose={() => setHanding(null)} />}
      {handing === 'many' && <HandMany coupon={coupon} onClose={() => setHanding(null)} />}
    </div>
  )
}

type Asking = 'archive' | 'delete' | 'kill' | null

/** Actions that change the coupon or its vouchers. Those that cannot be undone ask first. */
function Manage({ coupon }: { coupon: Definition }) {
  const [asking, setAsking] = useState<Asking>(null)
  const close = () => setAsking(null)
  const archived = coupon.archivedAt !== null
  // The service archives it in place of deleting it. A till may issue the first one while the question is open.
  const used = figuresOf(coupon.id).issued > 0
  const { busy, failure, attempt } = useAttempt()
  const setArchived = async (wanted: boolean) => {
    await changeCoupon(coupon.id, { archived: wanted })
    say(wanted ? t('coupon.archive.done') : t('coupon.unarchive.done'))
    close()
  }
  return (
    <div class="stack wide">
      <div class="actions">
        <ButtonLink icon="edit" href={hrefTo('coupons', coupon.id, 'edit')}>
          {t('coupon.edit')}
        </ButtonLink>
        <ButtonLink icon="copy" href={hrefTo('new', coupon.id)}>
          {t('coupon.copy')}
        </ButtonLink>
        <Button
          icon="archive"
          busy={busy}
          // Only archiving asks first: taking it back costs nobody anything.
          onClick={() => (archived ? void attempt(() => setArchived(false)) : setAsking('archive'))}
        >
          {archived ? t('coupon.unarchive') : t('coupon.archive')}
        </Button>
        {!used && (
          <Button icon="trash" onClick={() => setAsking('delete')}>
            {t('coupon.delete')}
          </Button>
        )}
      </div>
      {used && !archived && <p class="soft small">{t('coupon.undeletable')}</p>}
      {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      <section class="danger-zone stack">
        <h2>{t('kill.title')}</h2>
        <p>{t('kill.why', { name: shownName(coupon.name, coupon.benefit) })}</p>
        <div>
          <Button kind="danger" icon="stop" onClick={() => setAsking('kill')}>
            {t('kill.do')}
          </Button>
        </div>
      </section>
      {(asking === 'archive' || (asking === 'delete' && used)) && (
        <Confirm
          title={t('coupon.archive')}
          action={t('coupon.archive')}
          onClose={close}
          onConfirm={() => setArchived(true)}
        >
          <p>{t('coupon.archive.why')}</p>
          {used && <p>{t('coupon.archive.kept')}</p>}
        </Confirm>
      )}
      {asking === 'delete' && !used && (
        <Confirm
          title={t('coupon.delete.title')}
          action={t('coupon.delete')}
          danger
          onClose={close}
          onConfirm={async () => {
            const deleted = await deleteCoupon(coupon.id)
            say(deleted ? t('coupon.delete.done') : t('coupon.archive.done'))
            close()
            // An archived coupon still has its page.
            if (deleted) go('coupons')
          }}
        >
          <p>{t('coupon.delete.why')}</p>
        </Confirm>
      )}
      {asking === 'kill' && <Kill coupon={coupon} onClose={close} />}
    </div>
  )
}

/** Voids every open voucher, also those that customers hold. The typed word prevents an accident. */
function Kill({ coupon, onClose }: { coupon: Definition; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  const word = t('kill.word')
  return (
    <Confirm
      title={t('kill.title')}
      action={t('kill.do')}
      danger
      onClose={onClose}
      onConfirm={async () => {
        // Phones write the first letter large.
        const right = typed.trim().toUpperCase() === word
        setWrong(!right)
        if (!right) return
        say(t('kill.done', { n: await voidAll(coupon.id) }))
        onClose()
      }}
    >
      <div class="stack">
        <p>{t('kill.why', { name: shownName(coupon.name, coupon.benefit) })}</p>
        <Field
          data-begin
          label={t('kill.type', { word })}
          value={typed}
          onText={setTyped}
          autoComplete="off"
          error={wrong ? t('kill.type', { word }) : null}
        />
      </div>
    </Confirm>
  )
}
