/** Operations that begin and cease to name the URL of an image at the same time. */
import { afterAll, expect, test } from 'bun:test'
import { createStores } from '../../src/app/stores.ts'
import { systemClock } from '../../src/base/clock.ts'
import { define, edit, remove } from '../../src/coupons/define.ts'
import type { CouponService } from '../../src/coupons/service.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import type { Caller } from '../../src/session/caller.ts'
import { key, uuid } from '../contract/fixtures.ts'
import { openDatabases } from '../support/postgres-databases.ts'
import { settledOrWaiting } from '../support/waiting.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())

const caller = (number: number): Caller => ({
  pubkey: key(number),
  beganAt: 0,
  until: 0,
  spend: undefined,
})
const image = 'https://example.com/a.png'
const fields = { name: 'Café', benefit: { type: 'percent', percent: 10 }, image }

/** The operations of a service whose definitions stop before the commit while `open` is not resolved. */
async function openService() {
  const name = await databases.create()
  const inside = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const engine = new PostgresEngine({
    url: databases.server.url(name),
    now: systemClock,
    stores(sql) {
      const stores = createStores(sql)
      const { insert } = stores.definitions
      stores.definitions.insert = async (id, ...input) => {
        await insert(id, ...input)
        if (id !== uuid(2)) return
        await stores.definitions.find(id)
        inside.resolve()
        await open.promise
      }
      return stores
    },
  })
  let ids = 1
  const parts: Partial<CouponService> = {
    database: engine as CouponService['database'],
    now: systemClock,
    newId: () => uuid(ids++),
    addressOf: () => null,
    pictureAt: () => null,
    requireMerchant: async () => undefined,
    charge: async () => undefined,
    requireDisk: () => undefined,
  }
  return {
    engine,
    service: parts as CouponService,
    inside: inside.promise,
    open: open.resolve,
    name,
  }
}

const endings = {
  'the deletion of another definition': (service: CouponService) =>
    remove(service, caller(1), uuid(1)),
  'the edit of another definition': (service: CouponService) =>
    edit(service, caller(1), uuid(1), { image: null }),
}
for (const [kind, ending] of Object.entries(endings)) {
  test(`${kind} leaves an image that a definition of the same moment names`, async () => {
    const { engine, service, inside, open, name } = await openService()
    const looking = await databases.connect(name)
    await define(service, caller(1), fields, null)
    const defining = define(service, caller(2), fields, null)
    await inside
    const ceasing = ending(service)
    await settledOrWaiting(looking, ceasing)
    open()
    await Promise.all([defining, ceasing])
    const { rows } = await looking.send(
      `SELECT url FROM images WHERE url IN (SELECT image FROM revisions)`,
      [],
    )
    expect(rows).toEqual([{ url: image }])
    await looking.end()
    await engine.close()
  })
}
