import { BunkerSigner, createNostrConnectURI, parseBunkerInput } from 'nostr-tools/nip46'
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { bytesToHex, hexToBytes } from 'nostr-tools/utils'
import { parseRecord } from './json.ts'
import { randomText } from './random.ts'
import { type PageSigner, SignerError, type Waiting, waiting } from './signer.ts'
import { tab } from './storage.ts'

/** A person has to find the phone, open the app, read and agree. */
const waitMs = 180_000

/** Our own key towards a signer, and where that is. */
type Kept = { client: string; pubkey: string; relays: string[]; secret: string | null }

const place = 'remote-signer'
const metadata = { name: 'Cuponera' }

/** Where a signer and this page can meet: the relay inside this service, else one of its relays, else none. */
export function meetingPoint(): string {
  const { relay } = document.documentElement.dataset
  return relay ?? `${location.origin.replace(/^http/, 'ws')}/relay`
}

/** Connect to the signer that a `bunker://` address names (NIP-46). */
export async function openBunker(address: string, signal?: AbortSignal): Promise<PageSigner> {
  const pointer = address.trim().startsWith('bunker://')
    ? await parseBunkerInput(address.trim())
    : null
  if (!pointer || pointer.relays.length === 0) throw new SignerError('bunker-invalid')
  const client = generateSecretKey()
  const bunker = BunkerSigner.fromBunker(client, pointer, { onauth })
  await waitFor('connect', bunker.connect(metadata), signal, () => void bunker.close())
  return signerOf(bunker, client, signal)
}

/** An address to show as a QR, and the signer once one has answered to it. */
export function inviteSigner(relays: string[], signal: AbortSignal) {
  const client = generateSecretKey()
  const address = createNostrConnectURI({
    clientPubkey: getPublicKey(client),
    relays,
    secret: randomText(12),
    perms: ['sign_event:27235', 'sign_event:30078'],
    url: location.origin,
    ...metadata,
  })
  const signer = async () => {
    const over = new AbortController()
    const abort = AbortSignal.any([signal, over.signal])
    const answered = BunkerSigner.fromURI(
      client,
      address,
      { onauth, skipSwitchRelays: true },
      abort,
    )
    const bunker = await waitFor('scan', answered, signal, () => over.abort())
    return signerOf(bunker, client, signal)
  }
  return { address, signer: signer() }
}

/** The signer this tab was connected to, if it was to one. */
export async function restoreRemote(pubkey: string): Promise<PageSigner | null> {
  const kept = parseKept(tab.read(place))
  if (!kept) return null
  const { client, ...pointer } = kept
  return remoteSigner(BunkerSigner.fromBunker(hexToBytes(client), pointer, { onauth }), pubkey)
}

function parseKept(text: string | null): Kept | null {
  const kept = parseRecord(text, 'client', 'pubkey') as Kept | null
  const key = /^[0-9a-f]{64}$/
  if (!kept || !key.test(kept.client) || !key.test(kept.pubkey)) return null
  const { relays, secret } = kept
  const somewhere = Array.isArray(relays) && relays.length > 0 && relays.every(isText)
  return somewhere && (secret === null || isText(secret)) ? kept : null
}

const isText = (value: unknown) => typeof value === 'string'

async function signerOf(
  bunker: BunkerSigner,
  client: Uint8Array,
  signal?: AbortSignal,
): Promise<PageSigner> {
  const pubkey = await waitFor('key', bunker.getPublicKey(), signal, () => void bunker.close())
  const kept: Kept = { client: bytesToHex(client), ...bunker.bp }
  tab.write(place, JSON.stringify(kept))
  return remoteSigner(bunker, pubkey)
}

function remoteSigner(bunker: BunkerSigner, pubkey: string): PageSigner {
  return {
    kind: 'remote',
    pubkey,
    sign: (event) => waitFor('signature', bunker.signEvent(event)),
    close() {
      tab.remove(place)
      void bunker.close()
    },
  }
}

function onauth(url: string): void {
  const { value } = waiting
  // Only a page may be opened: whatever else a signer names is not followed.
  if (value && /^https?:\/\//.test(url)) waiting.value = { ...value, url }
}

/** Wait for a person somewhere else, and say so; three minutes at most. */
async function waitFor<T>(
  what: NonNullable<Waiting>['for'],
  promise: Promise<T>,
  signal?: AbortSignal,
  giveUp: () => void = () => undefined,
): Promise<T> {
  waiting.value = { for: what, until: Date.now() + waitMs }
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new SignerError('timeout')), waitMs)
  const cancel = () => reject(new SignerError('cancelled'))
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await Promise.race([promise, ended])
  } catch (cause) {
    giveUp()
    if (cause instanceof SignerError) throw cause
    if (signal?.aborted) throw new SignerError('cancelled')
    // A signer says no in words of its own, a text; anything else is the way to it.
    throw new SignerError(typeof cause === 'string' ? 'declined' : 'no-relay')
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    waiting.value = null
  }
}
