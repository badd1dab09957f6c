import { Database as Sqlite } from 'bun:sqlite'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../../src/app/config.ts'
import { realStatFs } from '../../../src/app/disk.ts'
import { openRuntime } from '../../../src/app/runtime.ts'
import { hexOf } from '../../../src/base/bytes.ts'
import type { Log } from '../../../src/base/log.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { parseRepeat } from '../../../src/coupons/answer.ts'
import { claim } from '../../../src/coupons/claim.ts'
import { define } from '../../../src/coupons/define.ts'
import { overview } from '../../../src/coupons/history.ts'
import { mintVouchers } from '../../../src/coupons/mint.ts'
import { createNonce, handleOf } from '../../../src/coupons/nonce.ts'
import { refresh } from '../../../src/coupons/refresh.ts'
import type { CouponService } from '../../../src/coupons/service.ts'
import { statusOf } from '../../../src/coupons/voucher.ts'
import { noVoucherLimits } from '../../../src/coupons/voucher-limits.ts'
import { checkDatabase } from '../../../src/db/check.ts'
import { noPause } from '../../../src/db/check-report.ts'
import { prepareRestore } from '../../../src/db/restore.ts'
import { openRelayDatabase } from '../../../src/relay/open-store.ts'
import type { Caller } from '../../../src/session/caller.ts'
import { secondsNow } from '../../support/clock.ts'
import type { Lane, Step } from './client.ts'
import { FactFile } from './facts.ts'
import type { Service } from './judge.ts'
import type { Life } from './life.ts'

// A disk that lies makes failures that nobody needs to read: problems are reported.
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }

/** Open the service of a data directory in this process, by the program's own start of its databases and keys. */
export async function openState(dataDir: string): Promise<Service> {
  const { config } = readConfig(new Map(), { DATA_DIR: dataDir, RATE_LIMIT: 'off' }, false)
  const opened = new AsyncDisposableStack()
  try {
    const runtime = await openRuntime(config, log, { statFs: realStatFs, opened })
    const { database, keys, now, signer, verify, requireDisk } = runtime
    const couponsPath = join(dataDir, 'cuponera.db')
    const relayPath = join(dataDir, 'relay.db')
    const relay = await openRelayDatabase(
      {
        ...{ relayPath, couponsPath, couponsUrl: null },
        ...{ open: true, diskLow: false, rateLimit: false },
      },
      (cause) => {
        throw cause
      },
    )
    opened.defer(() => relay.close())
    const clean = database.cleanStart
    const facts = new FactFile(couponsPath)
    opened.defer(() => facts.close())
    const service: CouponService = {
      ...{ database, now, signer, verify, requireDisk, newNonce: createNonce },
      ...{ storeKey: keys.storeKey, newId: () => crypto.randomUUID(), ...noVoucherLimits },
      ...{ addressOf: () => null, pictureAt: () => null, resolveName: async () => null },
      requireMerchant: nothing,
      charge: nothing,
      broadcast: nothing,
      recall: nothing,
    }
    return {
      dataDir,
      clean,
      statuses: (nonces) => statusesIn(service, nonces),
      async names(lane) {
        const { coupons } = await overview(service, callerOf(lane))
        return new Map(coupons.map(({ id, name }) => [id, name]))
      },
      async present(_, ids) {
        const filter = { ids: [...ids], tags: new Map() }
        const found = await relay.events.find(filter, now(), ids.length + 1)
        return new Set(found.events.map(({ event }) => event.id))
      },
      facts: (names) => facts.read(names),
      repeat: (lane, step) => repeat(service, lane, step),
      async spent() {
        using file = new Sqlite(couponsPath, { readonly: true })
        const rows = file.query<{ event_id: Uint8Array }, []>('SELECT event_id FROM proofs').all()
        return new Set(rows.map(({ event_id }) => hexOf(event_id)))
      },
      async check() {
        const { problems } = await checkDatabase(couponsPath, noPause)
        return [...problems, ...pagesOf(relayPath)]
      },
      close: () => opened.disposeAsync(),
    }
  } catch (cause) {
    await opened.disposeAsync()
    throw cause
  }
}

/** Restore a backup into a new data directory beside the keys of its service. */
export async function openBackup(file: string, dataDir: string, life: Life): Promise<Service> {
  mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(life.keys)) {
    writeFileSync(join(dataDir, 'keys', name), text, { mode: 0o600 })
  }
  const path = join(dataDir, 'cuponera.db')
  const candidate = await prepareRestore(file, path, secondsNow())
  if (candidate.relay) renameSync(candidate.relay.path, join(dataDir, 'relay.db'))
  renameSync(candidate.path, path)
  return openState(dataDir)
}

function silent(): void {}

async function nothing(): Promise<void> {}

function callerOf({ signer }: Lane): Caller {
  const now = secondsNow()
  return { pubkey: signer.pubkey, beganAt: now, until: now + 600, spend: undefined }
}

async function statusesIn({ database, now }: CouponService, nonces: readonly string[]) {
  return database.snapshot(async (tx) => {
    const statuses = new Map<string, string>()
    for (const nonce of nonces) {
      const voucher = await tx.vouchers.find(handleOf(nonce))
      statuses.set(nonce, voucher ? statusOf(voucher, now()) : 'unknown')
    }
    return statuses
  })
}

async function repeat(service: CouponService, lane: Lane, step: Step) {
  const body = JSON.parse(step.body)
  const caller = callerOf(lane)
  const headers = new Headers(step.key === null ? {} : { 'Idempotency-Key': step.key })
  const repeatOf = (scope: string) => parseRepeat({ headers }, scope, Buffer.from(step.body))
  try {
    switch (step.kind) {
      case 'refresh': {
        const answer = await refresh(service, { nonce: body.nonce, key: step.key ?? '' })
        return { status: answer.replayed ? 200 : 201, text: answer.body }
      }
      case 'claim': {
        const { nonce } = body
        const none = { owner: null, zapRequest: undefined, amountMsat: undefined, purchase: null }
        return textOf(await claim(service, { nonce, ...none }, repeatOf(`claim ${nonce}`), null))
      }
      case 'mint': {
        const { couponId, count = null } = body
        const asked = { couponId, count, names: null }
        return textOf(await mintVouchers(service, caller, asked, repeatOf(`mint ${caller.pubkey}`)))
      }
      default:
        return textOf(await define(service, caller, body, repeatOf(`define ${caller.pubkey}`)))
    }
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    return { status: 400, text: refused.code }
  }
}

function textOf({ status, body }: { status: number; body: string }) {
  return { status, text: body }
}

/** The problems of the pages and indexes of the relay's database. */
export function pagesOf(path: string): string[] {
  using file = new Sqlite(path)
  const found = file.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  return found.flatMap(({ integrity_check: line }) => (line === 'ok' ? [] : [`relay: ${line}`]))
}
