import { randomBytes } from 'node:crypto'
import type { Config } from '../app/config.ts'
import { federationOf } from '../app/identities.ts'
import { findKeys, parseKeyring } from '../app/keyring.ts'
import { systemClock } from '../base/clock.ts'
import { parseJsonObject } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { createSigner } from '../crypto/sign-event.ts'
import { delegationHash } from '../nostr/delegation.ts'
import { contentObject } from '../nostr/event.ts'
import { npubOf, nsecOf, parsePubkey } from '../nostr/keys.ts'
import { kinds } from '../nostr/kinds.ts'
import { createKeyDerivation, parseUid } from '../wallet/cards/tag.ts'
import { counterMax, createTap } from '../wallet/cards/tap.ts'
import { amountView } from '../wallet/ledger/amount.ts'
import { parseTokenText } from '../wallet/ledger/token.ts'
import { operate } from './cards.ts'
import { localAddress } from './health.ts'
import { newSecret, secretIn } from './secret-file.ts'

/** Lifetime of a simulated holder's delegation. */
const yearSeconds = 365 * 24 * 60 * 60

/** The server of a simulation, and the file with its holder's nsec. */
type Simulation = { url: string | undefined; holderFile: string | undefined }

/** Create a card without hardware: a tag with a random UID, a holder, and the URL of its first tap. */
export async function simulateCard(config: Config, simulation: Simulation): Promise<number> {
  // UIDs of NXP chips begin with 04.
  const cid = `04${randomBytes(6).toString('hex')}`
  const { otc } = await operate(config, { do: 'init', tag: { cid, ctr: 0 } })
  if (otc === null) throw new OperatorError('a card has that UID already: try again')
  console.log(`uid      ${cid}\ncode     ${otc}`)
  await activate(config, otc, simulation)
  console.log(`tap      ${await nextTap(config, cid, undefined, simulation.url)}`)
  return 0
}

/** Activate a card with its code, as the wallet of its holder does. */
export async function simulateActivation(
  config: Config,
  otc: string,
  simulation: Simulation,
): Promise<number> {
  await activate(config, otc, simulation)
  return 0
}

/** Print the URL that the next tap of a card opens, or the tap with a given counter. */
export async function simulateTap(
  config: Config,
  cid: string,
  { counter, url }: { counter: number | undefined; url: string | undefined },
): Promise<number> {
  console.log(await nextTap(config, cid, counter, url))
  return 0
}

type Purchase = { cid: string; token: string; amount: string; to: string | undefined }

/** Tap a card and pay with it, as a till does. The payment goes to `to`, or to a new key. */
export async function simulatePayment(
  config: Config,
  { cid, token, amount, to }: Purchase,
  url: string | undefined,
): Promise<number> {
  const terms = config.tokens.get(token)
  const units = terms ? parseTokenText(amount, terms.decimals) : null
  if (!terms) throw new OperatorError(`TOKENS does not name ${token}`)
  if (units === null) throw new OperatorError(`${amount} is no amount of ${token}`)
  const till = createSigner(openSchnorr(), newSecret())
  const recipient = to === undefined ? till.pubkey : parsePubkey(to)
  if (recipient === null) throw new OperatorError('--to is no public key: npub or hex')
  const base = baseOf(config, url)
  const { pubkey: manager } = (await ask(`${base}/api/coupons/manager`)) as { pubkey: string }
  const headers = {
    'X-LaWallet-Action': 'extendedScan',
    'X-LaWallet-Param': `federationId=${federationOf(config)}, tokens=${token}`,
  }
  const tap = await nextTap(config, cid, undefined, url)
  const { k1 } = (await ask(tap, undefined, headers)) as { k1: string }
  const event = till.sign({
    kind: kinds.walletEphemeral,
    created_at: systemClock(),
    tags: [
      ['p', manager],
      ['t', 'service:withdrawRequest'],
    ],
    content: JSON.stringify({
      k1,
      npub: npubOf(recipient),
      tokens: { [token]: amountView(units) },
    }),
  })
  const { status } = (await ask(`${base}/card/pay`, event)) as { status: string }
  console.log(`${status}: ${amount} ${token} to ${npubOf(recipient)}`)
  return status === 'OK' ? 0 : 1
}

/** Send the activation request of a holder (kind 21111), with a delegation for a year (NIP-26). */
async function activate(config: Config, otc: string, simulation: Simulation): Promise<void> {
  const base = baseOf(config, simulation.url)
  const schnorr = openSchnorr()
  const { holderFile } = simulation
  const secret = holderFile === undefined ? newSecret() : secretIn(holderFile)
  const holder = createSigner(schnorr, secret)
  const { pubkey: manager } = (await ask(`${base}/api/coupons/manager`)) as { pubkey: string }
  const now = systemClock()
  const conditions = `kind=${kinds.walletRegular}&created_at>${now - 60}&created_at<${now + yearSeconds}`
  const hash = Uint8Array.fromHex(delegationHash(manager, conditions))
  const token = schnorr.keypair(secret).sign(hash).toHex()
  const event = holder.sign({
    kind: kinds.walletEphemeral,
    created_at: now,
    tags: [
      ['p', manager],
      ['t', 'card-activation-request'],
    ],
    content: JSON.stringify({ otc, delegation: { conditions, token } }),
  })
  const answer = (await ask(`${base}/card`, event)) as { content: string }
  console.log(`card     ${contentObject(answer.content)?.uuid}\nholder   ${npubOf(holder.pubkey)}`)
  if (simulation.holderFile === undefined) console.log(`         ${nsecOf(secret)}`)
}

/**
 * The URL that the next tap opens. It derives the keys of the tag from this data directory, as the tag has no key
 * that could be read. Throws OperatorError.
 */
async function nextTap(
  config: Config,
  cid: string,
  counter: number | undefined,
  url: string | undefined,
): Promise<string> {
  const uid = parseUid(cid)
  const texts = Object.entries(findKeys(config)).map(([name, key]) => [name, key?.text] as const)
  const masterKey = parseKeyring(Object.fromEntries(texts))?.cardMasterKey
  if (!uid) throw new OperatorError('a UID has 14 hex digits')
  if (!masterKey) throw new OperatorError('the card master key is missing: start the server once')
  const card = await operate(config, { do: 'find', card: cid })
  const next = counter ?? card.counter + 1
  if (next > counterMax) throw new OperatorError('the counter of this card is at its end')
  const keys = createKeyDerivation(masterKey).keysOf(uid, card.version)
  const { p, c } = createTap({ uid, counter: next }, keys, randomBytes(5))
  return `${baseOf(config, url)}/card/scan?p=${p}&c=${c}`
}

function baseOf(config: Config, url: string | undefined): string {
  return (url ?? config.publicUrls[0] ?? localAddress(config)).replace(/\/$/, '')
}

/** Call the server, as a wallet or a till does. Throws OperatorError with its message. */
async function ask(url: string, body?: object, headers?: object): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(limits.cardSimSeconds * 1000),
    })
  } catch {
    throw new OperatorError(`${new URL(url).origin} does not answer: --url names the server`)
  }
  const answer: { reason?: string } =
    parseJsonObject(await response.text(), limits.demoAnswerBytesMax) ?? {}
  if (!response.ok) throw new OperatorError(answer.reason ?? `${url} answered ${response.status}`)
  return answer
}
