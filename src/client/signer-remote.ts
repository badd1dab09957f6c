import { BunkerSigner, createNostrConnectURI, parseBunkerInput } from 'nostr-tools/nip46'
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { bytesToHex, hexToBytes } from 'nostr-tools/utils'
import { parseJson } from '../base/json.ts'
import { clientLimits } from '../base/limits-client.ts'
import { kinds } from '../nostr/kinds.ts'
import { parseRecord } from './json.ts'
import { randomText } from './random.ts'
import { type PageSigner, SignerError } from './signer.ts'
import type { TextStore } from './texts.ts'

/** Time for a person to find the phone, open the app, read and agree. */
const waitSeconds = 180

/** Time for a signer to answer what no person has to agree to. One that does not know the method may stay silent. */
const politeSeconds = 3

/** Relays that a signer may ask us to use. */
const relaysMax = 10

/** A wait for a remote signer, shown to the person. */
export type Wait = {
  for: 'scan' | 'connect' | 'key' | 'signature'
  /** Its timeout, from when it began. */
  seconds: number
  /** A page on which the signer wants the person to agree. */
  url?: string
}

/** A stored connection; `client` is the secret key of our side. */
type Kept = { client: string; pubkey: string; relays: string[]; secret: string | null }

const place = 'remote-signer'
const metadata = { name: 'Cuponera' }

type Wiring = {
  /** Keeps the connection, so that a reload does not need the person. */
  store: TextStore
  /** The address of this program, which a signer shows to its person. */
  url: string
  /** Called when a wait begins or changes, and with null when it ends. */
  onWait: (wait: Wait | null) => void
}

/** Signers in another app or device, reached over relays (NIP-46). Methods throw SignerError. */
export function createRemoteSigners({ store, url, onWait }: Wiring) {
  let current: Wait | null = null
  const show = (wait: Wait | null) => {
    current = wait
    onWait(wait)
  }

  const onauth = (page: string) => {
    // Another scheme, such as javascript:, would run in the page that shows the link.
    if (current && /^https?:\/\//.test(page)) show({ ...current, url: page })
  }

  /** Wait for a person at another device, at most `waitSeconds`, and show it. */
  const waitFor = async <T>(
    step: Wait['for'],
    promise: Promise<T>,
    signal?: AbortSignal,
    giveUp: () => void = () => undefined,
  ): Promise<T> => {
    show({ for: step, seconds: waitSeconds })
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new SignerError('timeout')), waitSeconds * 1000)
    const cancel = () => reject(new SignerError('cancelled'))
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return await Promise.race([promise, ended])
    } catch (cause) {
      giveUp()
      if (cause instanceof SignerError) throw cause
      if (signal?.aborted) throw new SignerError('cancelled')
      // A signer refuses with a text of its own; another value is a failure of the relay.
      throw new SignerError(typeof cause === 'string' ? 'declined' : 'no-relay')
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      show(null)
    }
  }

  const toSigner = (bunker: BunkerSigner, pubkey: string): PageSigner => ({
    kind: 'remote',
    pubkey,
    sign: (event) => waitFor('signature', bunker.signEvent(event)),
    close() {
      store.remove(place)
      // The signer forgets this connection. An error means that it does not know the method.
      void ask(bunker, 'logout').then(() => bunker.close())
    },
  })

  const connected = async (first: BunkerSigner, client: Uint8Array, signal?: AbortSignal) => {
    const bunker = await moved(first, client, onauth)
    const pubkey = await waitFor('key', bunker.getPublicKey(), signal, () => void bunker.close())
    const kept: Kept = { client: bytesToHex(client), ...bunker.bp }
    store.write(place, JSON.stringify(kept))
    return toSigner(bunker, pubkey)
  }

  return {
    /** Connect to the signer that a `bunker://` address names. */
    async open(address: string, signal?: AbortSignal): Promise<PageSigner> {
      const pointer = address.trim().startsWith('bunker://')
        ? await parseBunkerInput(address.trim())
        : null
      if (!pointer || pointer.relays.length === 0) throw new SignerError('bunker-invalid')
      const client = generateSecretKey()
      const bunker = BunkerSigner.fromBunker(client, pointer, { onauth })
      await waitFor('connect', bunker.connect(metadata), signal, () => void bunker.close())
      return connected(bunker, client, signal)
    },

    /** An address to show as a QR, and a promise of the signer that scans it. */
    invite(relays: string[], signal: AbortSignal) {
      const client = generateSecretKey()
      const address = createNostrConnectURI({
        clientPubkey: getPublicKey(client),
        relays,
        secret: randomText(12),
        perms: [`sign_event:${kinds.httpAuth}`, `sign_event:${kinds.announcement}`],
        url,
        ...metadata,
      })
      const signer = async () => {
        const over = new AbortController()
        const abort = AbortSignal.any([signal, over.signal])
        const options = { onauth, skipSwitchRelays: true }
        const answered = BunkerSigner.fromURI(client, address, options, abort)
        const bunker = await waitFor('scan', answered, signal, () => over.abort())
        return connected(bunker, client, signal)
      }
      return { address, signer: signer() }
    },

    /** The signer of the stored connection, without a person; null when there is none. */
    async restore(pubkey: string): Promise<PageSigner | null> {
      const kept = parseKept(store.read(place))
      if (!kept) return null
      const { client, ...pointer } = kept
      return toSigner(BunkerSigner.fromBunker(hexToBytes(client), pointer, { onauth }), pubkey)
    },
  }
}

/** Ask a signer what it may not know; null for an error, and where it does not answer soon. */
async function ask(bunker: BunkerSigner, method: string): Promise<unknown> {
  const { promise: silence, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), politeSeconds * 1000)
  const answer = bunker.sendRequest(method, []).catch(() => null)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** The connection on the relays that the signer prefers (`switch_relays`), or as it is. */
async function moved(
  bunker: BunkerSigner,
  client: Uint8Array,
  onauth: (url: string) => void,
): Promise<BunkerSigner> {
  const relays = parseRelays(await ask(bunker, 'switch_relays'))
  if (!relays || relays.join() === bunker.bp.relays.join()) return bunker
  await bunker.close()
  return BunkerSigner.fromBunker(client, { ...bunker.bp, relays }, { onauth })
}

/**
 * The list of relays in an answer, as JSON or as it stands; null for anything else, null included, by which a signer
 * keeps those there are.
 */
function parseRelays(answer: unknown): string[] | null {
  const value = typeof answer === 'string' ? parseJson(answer, clientLimits.bodyBytesMax) : answer
  const usable = (one: unknown) =>
    typeof one === 'string' && /^wss?:\/\//.test(one) && URL.canParse(one)
  const list = Array.isArray(value) && value.length > 0 && value.length <= relaysMax
  return list && value.every(usable) ? (value as string[]) : null
}

function parseKept(text: string | null): Kept | null {
  const kept = parseRecord(text, 'client', 'pubkey') as Kept | null
  const key = /^[0-9a-f]{64}$/
  if (!kept || !key.test(kept.client) || !key.test(kept.pubkey)) return null
  const { relays, secret } = kept
  const reachable = Array.isArray(relays) && relays.length > 0 && relays.every(isText)
  return reachable && (secret === null || isText(secret)) ? kept : null
}

const isText = (value: unknown) => typeof value === 'string'
