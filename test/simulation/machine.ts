import { createStores } from '../../src/app/stores.ts'
import { limits } from '../../src/base/limits.ts'
import { handleOf } from '../../src/coupons/nonce.ts'
import { createSql } from '../../src/db/connection.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import type { Random } from '../fuzz/random.ts'
import { manager, newHolder } from '../support/cards.ts'
import { newSigner } from '../support/client.ts'
import { CardModel } from './card-model.ts'
import { CouponModel, Mismatch, same } from './coupon-model.ts'
import { Disk } from './disk.ts'
import { LedgerModel } from './ledger-model.ts'
import type { Loop } from './loop.ts'
import type { Network } from './network.ts'
import { PosterModel } from './poster-model.ts'
import { Crash, Process } from './process.ts'
import type { Relay } from './relay.ts'
import { type RunningService, startService } from './service.ts'

/** Unix seconds at the beginning of every world. */
const startedAt = 1_800_000_000

/** A service as others know it. */
export type Peer = { pubkey: string; base: string }

export type MachineParts = {
  random: Random
  loop: Loop
  network: Network
  relays: readonly Relay[]
  /** Services whose vouchers are taken, this one left out. */
  peers: Peer[]
  /** The world ends: something is not as it must be. */
  fail: (cause: unknown) => void
}

const signers = [manager, newSigner(new Uint8Array(32).fill(8))]
export const peers: Peer[] = signers.map(({ pubkey }, at) => {
  return { pubkey, base: `https://shop-${at}.example` }
})
/** People with a name at every service, and tokens in the ledger. */
export const people = ['ana', 'beto', 'caro'].map((name, at) => {
  return { name, ...newHolder(new Uint8Array(32).fill(20 + at)) }
})

/** A computer with a disk and a clock, on which one service runs at a time. */
export class Machine {
  readonly disk = Disk.take()
  readonly coupons = new CouponModel()
  readonly posters = new PosterModel(this.coupons)
  readonly ledger = new LedgerModel(
    new Map([
      ['ARS', manager.pubkey],
      ['BTC', manager.pubkey],
    ]),
  )
  readonly cards = new CardModel(this.ledger)
  service: RunningService | null = null
  /** Seconds that its clock is ahead of the world's. */
  offset = 0
  /** The newest commit by its clock that a process was told of. */
  #newestTold = 0
  /** Something has changed since its disk was compared. */
  changed = true
  /** The port calls of the next process until it crashes. */
  crashIn: number | null = null
  /** Events that it promised to deliver. */
  readonly promised = new Map<string, NostrEvent>()
  /** Idempotency-Keys of its swaps at other services. */
  readonly transferKeys = new Set<string>()
  /** Only the first service has a ledger and cards: its key is known to the tests of those. */
  readonly hasLedger: boolean
  readonly base: string
  readonly signer
  readonly #parts: MachineParts
  readonly #taken: { service: string; handle: Uint8Array; holder: string }[] = []
  #named = false

  constructor(parts: MachineParts, at: number) {
    this.#parts = parts
    this.hasLedger = at === 0
    this.signer = signers[at] as (typeof signers)[number]
    this.base = (peers[at] as Peer).base
  }

  /** Unix seconds as its clock shows them. */
  now = (): number => Math.floor(startedAt + this.#parts.loop.seconds + this.offset)

  /** Start the service. It may crash while it starts. */
  async start(): Promise<void> {
    const { loop, fail } = this.#parts
    await this.#name()
    const { disk, now, crashIn } = this
    this.crashIn = null
    let process: Process | null = null
    try {
      process = new Process({ disk, loop, now, fail, committed: this.#committed }, crashIn)
      process.onEnd(() => {
        this.service = null
      })
      // It is stored now and then only, so that a crash may forget the last seconds.
      if (process.newestWrite < this.#newestTold - limits.clockBackSeconds) {
        throw new Mismatch('the time of the newest write is forgotten')
      }
      const service = await startService(process, this, this.#parts)
      if (process.alive) this.service = service
    } catch (cause) {
      // A service that cannot start ends.
      process?.crash()
      if (!(cause instanceof Crash) && !process?.explains(cause)) fail(cause)
    }
  }

  /** Stop the service. It may crash meanwhile. */
  async stop(): Promise<void> {
    const { service } = this
    if (!service) return
    try {
      await service.stop()
    } catch (cause) {
      if (!(cause instanceof Crash) && !service.process.explains(cause)) this.#parts.fail(cause)
      service.process.crash()
    }
  }

  /** Give people their names, once. */
  async #name(): Promise<void> {
    if (this.#named) return
    this.#named = true
    const { accounts } = createStores(createSql(this.disk.looking, 'later'))
    for (const { name, pubkey } of people) {
      const account = { name, pubkey, lud16: null, nonceId: null, createdBy: pubkey }
      await accounts.insert({ ...account, uuid: crypto.randomUUID(), createdAt: startedAt })
    }
  }

  /** It said that it took a voucher for a holder: from now on that must be true. */
  take({ service, nonce, holder }: { service: string; nonce: string; holder: string }): void {
    this.#taken.push({ service, handle: handleOf(nonce), holder })
    this.changed = true
  }

  /** Check that every voucher that it said to have taken is taken, for that holder. */
  compareTaken(): void {
    for (const { service, handle, holder } of this.#taken) {
      const [found] = this.disk.look(
        'SELECT lower(hex(holder)) FROM transfers WHERE service = ? AND handle = ?',
        Uint8Array.fromHex(service),
        handle,
      )
      same('the holder of a voucher that was taken', found?.[0], holder)
    }
  }

  /** True if a card with that UID is on the disk, with a holder. */
  hasCard(uid: string): boolean {
    const text = 'SELECT 1 FROM cards WHERE cid = ? AND holder IS NOT NULL'
    return this.disk.look(text, Uint8Array.fromHex(uid)).length > 0
  }

  newTransferKey(key: string): string {
    this.transferKeys.add(key)
    return key
  }

  /** An event of its own is on the disk. */
  told(event: NostrEvent): void {
    this.ledger.committed(event)
    this.promised.set(event.id, event)
  }

  /** Background work may fail for a fault of this world, and for nothing else. */
  jobFailed(process: Process, cause: unknown): void {
    if (!process.alive || process.explains(cause)) return
    this.#parts.fail(new Mismatch(`work in the background failed: ${cause}\n${Bun.inspect(cause)}`))
  }

  readonly #committed = ({ told, behind }: { told: boolean; behind: boolean }): void => {
    if (behind) throw new Mismatch('a commit while the clock is behind')
    this.changed = true
    if (told) this.#newestTold = Math.max(this.#newestTold, this.now())
  }

  end(): void {
    this.service?.process.crash()
    this.disk.giveBack()
  }
}
