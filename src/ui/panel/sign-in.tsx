import { useEffect, useRef, useState } from 'preact/hooks'
import { type PageSigner, SignerError, type SignerKind } from '../../client/signer.ts'
import { hasExtension, openExtension } from '../../client/signer-extension.ts'
import { npubOf } from '../../nostr/keys.ts'
import { hostReach } from '../browser/host-reach.ts'
import { useArrival } from '../parts/arrival.ts'
import { useAttempt } from '../parts/attempt.ts'
import { Button } from '../parts/button.tsx'
import { CouponCard } from '../parts/coupon-card.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { knownName } from '../state/merchant-names.ts'
import { panelWords as t } from '../words/panel.ts'
import { BringKey } from './bring-key.tsx'
import { BackButton, type EnterProps } from './enter.tsx'
import { later } from './later.tsx'
import { broughtIn } from './moved-state.ts'
import { heldCode } from './setup-code.ts'
import { Forgotten, NewKey, Unlock } from './sign-in-key.tsx'
import { keyBox, session } from './state.ts'

const MoveIn = later(async () => (await import('./move-in.tsx')).MoveIn)
const RemoteSignIn = later(async () => (await import('./sign-in-remote.tsx')).RemoteSignIn)

/** The chosen method of signing in. Null shows the choice. */
type SignInMethod = SignerKind | 'bring' | 'forgotten' | null

/** The page without a session. */
export function Welcome() {
  const [bringing, setBringing] = useState(false)
  // Before its first use: whoever opens it has the setup code, or sits at its computer.
  const mayBring = heldCode.value !== null || hostReach(location.hostname) === 'device'
  return (
    <div class="welcome">
      <div class="stack welcome-words">
        <h1>{t('in.title')}</h1>
        <p class="welcome-lead">{t('in.lead')}</p>
        {/* A picture of the product, so not for screen readers. */}
        <div class="welcome-sample" aria-hidden="true">
          <CouponCard
            coupon={{
              name: t('in.sample.name'),
              description: t('in.sample.terms'),
              benefit: { type: 'multibuy', buyQty: 2, payQty: 1, productDs: [t('in.sample')] },
              expiresAt: null,
              image: null,
            }}
          />
        </div>
      </div>
      <section class="sheet stack" aria-label={t('in.how')}>
        {/* The setup code came by the address: the person should know that it was read. */}
        {heldCode.value !== null && !bringing && (
          <Notice tone="good" icon="key">
            {t('setup.held')}
          </Notice>
        )}
        {broughtIn.value && <Notice tone="good">{t('in.moved')}</Notice>}
        {bringing ? (
          <MoveIn onBack={() => setBringing(false)} />
        ) : (
          <SignIn
            own={broughtIn.value}
            onBring={mayBring && !broughtIn.value ? () => setBringing(true) : null}
          />
        )}
      </section>
    </div>
  )
}

type SignInProps = {
  /** The key that must sign, during a request of its session. */
  only?: string
  /** Offers no new key: the shop has one. */
  own?: boolean
  /** Called with the signer in place of a session, which a service that has moved does not open. */
  take?: (signer: PageSigner) => Promise<void>
  /** Called by a shop that comes from another computer. */
  onBring?: (() => void) | null
}

/** The choice of a signer. */
export function SignIn({ only, own = false, take, onBring = null }: SignInProps) {
  const found = keyBox.find()
  // A key of this device other than `only` could not continue the session.
  const kept = only === undefined || found?.pubkey === only ? found : null
  const heading = useArrival()
  // With a key on this device, its PIN is all that is asked.
  const [method, setMethod] = useState<SignInMethod>(kept ? 'local' : null)
  const back = () => setMethod(null)
  const enter = async (signer: PageSigner) => {
    if (only && signer.pubkey !== only) {
      // A wrong key must not stay decrypted in memory.
      signer.close?.()
      throw new SignerError('other-key')
    }
    if (take) return take(signer)
    await session.signIn(signer)
  }
  if (method === 'extension') return <ExtensionSignIn enter={enter} onBack={back} />
  if (method === 'remote') return <RemoteSignIn enter={enter} onBack={back} />
  if (method === 'bring') return <BringKey only={only} enter={enter} onBack={back} />
  if (method === 'forgotten') {
    return <Forgotten onBring={() => setMethod('bring')} onBack={() => setMethod('local')} />
  }
  if (method === 'local') {
    return kept ? (
      <Unlock
        pubkey={kept.pubkey}
        asked={only !== undefined}
        enter={enter}
        onForgotten={() => setMethod('forgotten')}
        onBack={back}
      />
    ) : (
      <NewKey enter={enter} onBack={back} />
    )
  }
  return (
    <div class="stack">
      <h2 ref={heading}>{t('in.how')}</h2>
      {kept ? (
        <MethodButton
          main
          icon="lock"
          title={t('in.unlock')}
          why={knownName(npubOf(kept.pubkey)) ?? ''}
          onClick={() => setMethod('local')}
        />
      ) : (
        // During a request a new key would be another merchant.
        only === undefined &&
        !own && (
          <MethodButton
            main
            icon="key"
            title={t('in.local')}
            why={t('in.local.why')}
            onClick={() => setMethod('local')}
          />
        )
      )}
      {!kept && (
        <Button kind={own ? 'primary' : 'plain'} icon="download" onClick={() => setMethod('bring')}>
          {t('key.bring')}
        </Button>
      )}
      {onBring && !kept && (
        <Button icon="download" onClick={onBring}>
          {t('in.move')}
        </Button>
      )}
      {/* Asked again without a key of this device, the session came by one of these. */}
      <details open={only !== undefined && !kept}>
        <summary>{t('in.others')}</summary>
        <div class="stack tight">
          <MethodButton
            icon="puzzle"
            title={t('in.extension')}
            why={t('in.extension.why')}
            onClick={() => setMethod('extension')}
          />
          <MethodButton
            icon="phone"
            title={t('in.remote')}
            why={t('in.remote.why')}
            onClick={() => setMethod('remote')}
          />
        </div>
      </details>
    </div>
  )
}

type MethodProps = {
  icon: IconName
  title: string
  why: string
  /** The one that most people take. */
  main?: boolean
  onClick: () => void
}

function MethodButton({ icon, title, why, main = false, onClick }: MethodProps) {
  return (
    <button type="button" class={main ? 'way main' : 'way'} onClick={onClick}>
      <span class="way-icon">
        <Icon name={icon} size={24} />
      </span>
      <span class="grow">
        <strong>{title}</strong>
        <span class="soft small">{why}</span>
      </span>
      <Icon name="next" />
    </button>
  )
}

function ExtensionSignIn({ enter, onBack }: EnterProps) {
  const heading = useArrival()
  const { busy, failure, attempt } = useAttempt()
  const run = () => void attempt(async () => enter(await openExtension()))
  const started = useRef(false)
  useEffect(() => {
    // Choosing the extension asks it at once, without a second tap.
    if (!started.current && hasExtension()) run()
    started.current = true
  })
  return (
    <div class="stack">
      <h2 ref={heading}>{t('in.extension')}</h2>
      <p class="soft">{t('in.extension.why')}</p>
      {failure !== null && <Failure cause={failure} />}
      <Button kind="primary" wide icon="puzzle" busy={busy} onClick={run}>
        {t('in.enter')}
      </Button>
      <BackButton onBack={onBack} />
    </div>
  )
}
