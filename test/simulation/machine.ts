import { SQLiteError } from 'bun:sqlite'
import { startSweeps } from '../../src/app/sweeps.ts'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { couponsKilled } from '../../src/coupons/news.ts'
import type { CouponService } from '../../src/coupons/service.ts'
import { noVoucherLimits } from '../../src/coupons/voucher-limits.ts'
import { startKillSweep } from '../../src/coupons/worker.ts'
import { createJobs } from '../../src/db/jobs.ts'
import type { Random } from '../fuzz/random.ts'
import { newSigner, verifyEvent } from '../support/client.ts'
import { CouponModel, Mismatch } from './coupon-model.ts'
import { Disk } from './disk.ts'
import type { Loop } from './loop.ts'
import { Crash, Process } from './process.ts'

/** Unix seconds at the beginning of every world. */
const startedAt = 1_800_000_000

export type MachineParts = {
  random: Random
  loop: Loop
  /** The world ends: something is not as it must be. */
  fail: (cause: unknown) => void
}

/** The service of a process that runs. */
export type Service = {
  process: Process
  coupons: CouponService
  /** Stop the work in the background and close the database. */
  stop(): Promise<void>
}

const storeKey = new Uint8Array(32).fill(5)
const signers = [newSigner(new Uint8Array(32).fill(7)), newSigner(new Uint8Array(32).fill(8))]

/** A computer with a disk and a clock, on which one service runs at a time. */
export class Machine {
  readonly disk = Disk.take()
  readonly coupons = new CouponModel()
  service: Service | null = null
  /** Seconds that its clock is ahead of the world's. */
  offset = 0
  /** The newest commit, by its clock. */
  newestCommit = 0
  /** The port calls of the next process until it crashes. */
  crashIn: number | null = null
  readonly #parts: MachineParts
  readonly signer

  constructor(parts: MachineParts, at: number) {
    this.#parts = parts
    this.signer = signers[at] as (typeof signers)[number]
  }

  /** Unix seconds as its clock shows them. */
  now = (): number => Math.floor(startedAt + this.#parts.loop.seconds + this.offset)

  /** Start the service. It may crash while it starts. */
  start(): void {
    const { random, loop, fail } = this.#parts
    const { disk, now } = this
    const crashIn = this.crashIn
    this.crashIn = null
    let process: Process
    try {
      process = new Process({ disk, loop, now, fail }, crashIn)
    } catch (cause) {
      if (!(cause instanceof Crash)) fail(cause)
      return
    }
    process.onEnd(() => {
      this.service = null
    })
    const { database } = process
    const jobs = createJobs(database, loop.timeOf(process))
    const failed = (cause: unknown) => this.#jobFailed(process, cause)
    const sweep = startKillSweep({ jobs, database, failed })
    database.listen(couponsKilled, { told: sweep.wake, missed: sweep.wake })
    const warn = (_: string, fields: { cause?: unknown } = {}) => failed(fields.cause)
    const sweeps = startSweeps({ database, jobs, now, log: { warn } } as never)
    const coupons: CouponService = {
      ...{ database, now, signer: this.signer, verify: verifyEvent, storeKey },
      newNonce: () => Buffer.from(random.bytes(16)).toString('base64url'),
      newId: () => uuidOf(random.bytes(16).toHex()),
      requireMerchant: async () => undefined,
      addressOf: () => null,
      pictureAt: () => null,
      charge: async () => undefined,
      resolveName: async () => null,
      broadcast: async () => undefined,
      recall: async () => undefined,
      ...noVoucherLimits,
      requireDisk: () => undefined,
    }
    const stop = async () => {
      try {
        await Promise.all([sweep.stop(), sweeps.stop()])
        await database.close()
      } catch (cause) {
        if (!(cause instanceof Crash)) fail(cause)
      }
      process.crash()
    }
    this.service = { process, coupons, stop }
  }

  /** Background work may fail for a fault of this world, and for nothing else. */
  #jobFailed(process: Process, cause: unknown): void {
    if (!process.alive || this.excuses(process, cause)) return
    this.#parts.fail(new Mismatch(`work in the background failed: ${Bun.inspect(cause)}`))
  }

  /** True for a failure that a fault of this world explains. */
  excuses({ struck }: Process, cause: unknown): boolean {
    if (cause instanceof SQLiteError) return struck > 0
    if (cause instanceof Refusal && cause.code === 'clock-behind') return this.clockBehind()
    return cause instanceof Refusal && cause.code === 'shutting-down'
  }

  /** True while writes are refused because the clock was set back. */
  clockBehind(): boolean {
    return this.now() < this.newestCommit - limits.clockBackSeconds
  }

  end(): void {
    this.service?.process.crash()
    this.disk.giveBack()
  }
}

function uuidOf(hex: string): string {
  return [8, 4, 4, 4, 12]
    .map((length, at, all) => {
      const from = all.slice(0, at).reduce((sum, one) => sum + one, 0)
      return hex.slice(from, from + length)
    })
    .join('-')
}
