import { randomBytes } from 'node:crypto'
import { npubEncode } from 'nostr-tools/nip19'
import { decrypt, encrypt, getConversationKey } from 'nostr-tools/nip44'
import { finalizeEvent, getPublicKey } from 'nostr-tools/pure'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { secondsNow } from './clock.ts'

type Request = { id: string; method: string; params: string[] }

export type RemoteSigner = AsyncDisposable & {
  /** `bunker://…` */
  address: string
  npub: string
  /** Answer to a `nostrconnect://` address as if its QR had been scanned. */
  scan(address: string): Promise<void>
  /** The methods that it was asked for. */
  methods: readonly string[]
  /** Say no to the next request. */
  refuseNext(): void
}

/**
 * A signer of NIP-46 with keys of its own, as an app on a phone would be: real events over a real relay. With `relays`
 * it knows `switch_relays` and `logout`, without them it answers both with an error, as it does for other methods. It
 * tells the relays as JSON text, or with `plain` as a list.
 */
export async function startRemoteSigner(
  relay: string,
  relays: readonly string[] | null = null,
  plain = false,
): Promise<RemoteSigner> {
  const methods: string[] = []
  const user = randomBytes(32)
  const own = randomBytes(32)
  const ownPubkey = getPublicKey(own)
  const secret = randomBytes(8).toString('hex')
  let refuse = false
  const socket = new WebSocket(relay)
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))

  const send = (to: string, message: unknown) => {
    const content = encrypt(JSON.stringify(message), getConversationKey(own, to))
    const event = finalizeEvent(
      { kind: 24_133, created_at: secondsNow(), tags: [['p', to]], content },
      own,
    )
    socket.send(JSON.stringify(['EVENT', event]))
  }
  /** Null for a method that it does not know. */
  const answer = ({ method, params }: Request): unknown => {
    methods.push(method)
    if (method === 'switch_relays' && relays) return plain ? relays : JSON.stringify(relays)
    if (method === 'logout' && relays) return 'ack'
    if (method === 'connect') return 'ack'
    if (method === 'get_public_key') return getPublicKey(user)
    if (method === 'sign_event') {
      return JSON.stringify(finalizeEvent(JSON.parse(params[0] ?? ''), user))
    }
    return null
  }
  socket.addEventListener('message', ({ data }) => {
    const [type, , event] = JSON.parse(String(data)) as [string, string, NostrEvent]
    if (type !== 'EVENT') return
    const key = getConversationKey(own, event.pubkey)
    const request = JSON.parse(decrypt(event.content, key)) as Request
    const { id } = request
    if (refuse) {
      refuse = false
      send(event.pubkey, { id, error: 'no' })
    } else {
      const result = answer(request)
      const error = `unknown method ${request.method}`
      send(event.pubkey, result === null ? { id, error } : { id, result })
    }
  })
  socket.send(JSON.stringify(['REQ', 'signer', { kinds: [24_133], '#p': [ownPubkey] }]))

  return {
    address: `bunker://${ownPubkey}?relay=${encodeURIComponent(relay)}&secret=${secret}`,
    npub: npubEncode(getPublicKey(user)),
    methods,
    async scan(address) {
      const uri = new URL(address)
      const id = randomBytes(4).toString('hex')
      send(uri.hostname || uri.pathname.replaceAll('/', ''), {
        id,
        result: uri.searchParams.get('secret'),
      })
    },
    refuseNext() {
      refuse = true
    },
    async [Symbol.asyncDispose]() {
      socket.close()
    },
  }
}
