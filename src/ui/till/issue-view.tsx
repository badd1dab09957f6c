import { npubEncode } from 'nostr-tools/nip19'
import { useEffect } from 'preact/hooks'
import type { Mintable } from '../../client/mint.ts'
import { Button } from '../parts/button.tsx'
import { Fitted } from '../parts/fitted.tsx'
import { Notice } from '../parts/notice.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { ShopKey } from '../parts/shop-key.tsx'
import { merchantName } from '../state/merchant-names.ts'
import { benefitBadge, benefitText, nameTells } from '../words/benefit-text.ts'
import { failureText } from '../words/signer.ts'
import { tillWords as t } from '../words/till.ts'
import {
  issued,
  loadMintable,
  mint,
  mintable,
  minting,
  redeemsOnly,
  session,
  signOut,
  trouble,
} from './issue-state.ts'
import { IssuedView } from './issued-view.tsx'
import { Fleeting, KeyView } from './key-view.tsx'
import { useRested } from './resting.tsx'

/** Interval of the requests that ask whether a merchant has authorised this till. */
const lookMs = 5000

/** Issuing: one tap on a coupon shows a QR for the customer. */
export function IssueView() {
  const ready = issued.value
  if (ready) return <IssuedView issued={ready} />
  const who = session.who.value
  if (!who) return <KeyView />
  return <Mintables pubkey={who.pubkey} />
}

function Mintables({ pubkey }: { pubkey: string }) {
  const list = mintable.value
  const none = list?.length === 0
  useEffect(() => void loadMintable(), [pubkey])
  useEffect(() => {
    if (!none) return
    const timer = setInterval(() => {
      if (!document.hidden) void loadMintable()
    }, lookMs)
    return () => clearInterval(timer)
  }, [none])
  const failure = trouble.value
  return (
    <div class="stack wide">
      <div class="stack tight">
        <h1>{t('issue.title')}</h1>
        {!none && <p class="soft">{t('issue.lead')}</p>}
      </div>
      {failure !== null && (
        <Notice tone="bad">
          <p>{failureText(failure)}</p>
          <Button onClick={() => void loadMintable()}>{t('again')}</Button>
        </Notice>
      )}
      {none ? <NothingToIssue npub={npubEncode(pubkey)} /> : <MintButtons list={list ?? []} />}
      <div class="row">
        <Button kind="quiet" icon="lock" onClick={signOut}>
          {t('key.lock')}
        </Button>
      </div>
    </div>
  )
}

function MintButtons({ list }: { list: readonly Mintable[] }) {
  // One of these appears under the finger that put the last voucher away.
  const rested = useRested()
  const shops = new Set(list.map(({ npub }) => npub))
  return (
    <ul class="mint-buttons">
      {list.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            class="mint-button"
            disabled={!rested || minting.value !== null}
            aria-busy={minting.value === one.id}
            onClick={() => void mint(one)}
          >
            <span class="mint-badge">
              {minting.value === one.id ? (
                <span class="spinner" aria-hidden="true" />
              ) : (
                <Fitted>{benefitBadge(one.coupon)}</Fitted>
              )}
            </span>
            <MintName coupon={one} />
            <span class="soft small">
              {minting.value === one.id
                ? t('issue.minting')
                : one.remaining === null
                  ? t('issue.unlimited')
                  : t('issue.remaining', { n: one.remaining })}
              {shops.size > 1 && (
                <>
                  {' · '}
                  <bdi>{merchantName(one.npub)}</bdi>
                </>
              )}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function NothingToIssue({ npub }: { npub: string }) {
  if (!redeemsOnly()) return <Unauthorised npub={npub} />
  return (
    <section class="sheet stack center">
      <h2>{t('issue.redeems.title')}</h2>
      <p>{t('issue.redeems.detail')}</p>
      <Button kind="primary" onClick={() => void loadMintable()}>
        {t('again')}
      </Button>
    </section>
  )
}

/** The till's key as a QR, by which the merchant authorises it in the panel. */
function Unauthorised({ npub }: { npub: string }) {
  return (
    <section class="sheet stack center">
      <h2>{t('issue.none.title')}</h2>
      <p>{t('issue.none.detail')}</p>
      {session.who.value?.kind === 'local' && <Fleeting />}
      <div class="qr-frame">
        <QrCode text={npub} label={t('issue.key.qr')} />
      </div>
      <ShopKey npub={npub} />
      <Button kind="primary" onClick={() => void loadMintable()}>
        {t('issue.none.refresh')}
      </Button>
    </section>
  )
}

/** The name and the benefit; the benefit alone where the name says the same. */
function MintName({ coupon: { name, coupon } }: { coupon: Pick<Mintable, 'name' | 'coupon'> }) {
  if (!nameTells(name, coupon)) return <span class="mint-name">{benefitText(coupon)}</span>
  return (
    <>
      <span class="mint-name">{name}</span>
      <span class="soft small">{benefitText(coupon)}</span>
    </>
  )
}
