/** The key of a device: its PIN, a new PIN, and the wait after wrong ones. */
import { expect, test } from 'bun:test'
import { decrypt, encrypt } from 'nostr-tools/nip49'
import { copyPasswordTrouble } from '../../src/client/copy-password.ts'
import { doKeyWork, type KeyCipher, type KeyWork } from '../../src/client/key-work.ts'
import { createPinTries } from '../../src/client/pin-tries.ts'
import { SignerError } from '../../src/client/signer.ts'
import { createKeyBox, type KeptKey } from '../../src/client/signer-local.ts'
import type { LastingStore } from '../../src/client/texts.ts'
import { nsecOf } from '../../src/nostr/keys.ts'

const pin = '246810'
const place = 'key:test'

/** A storage that can be full, like that of a browser: a new text then lives in memory alone. */
function createStore() {
  const texts = new Map<string, string>()
  const memory = new Map<string, string>()
  const writes: string[] = []
  const state = { full: false }
  const store: LastingStore = {
    read: (name) => memory.get(name) ?? texts.get(name) ?? null,
    write(name, text) {
      writes.push(name)
      const into = state.full ? memory : texts
      if (!state.full) memory.delete(name)
      into.set(name, text)
      return !state.full
    },
    remove(name) {
      memory.delete(name)
      texts.delete(name)
    },
    // As in the page: a trial write tells.
    lasts: (name) => !memory.has(name) && !state.full,
    holds: (name) => !memory.has(name) && texts.has(name),
  }
  return { store, texts, writes, state }
}

/** `dear`: at the cost of the pages; else cheaper, which saves a test its seconds. */
function openBox({ dear = false } = {}) {
  const kept = createStore()
  const clock = { now: 1_000_000 }
  const meanwhile = { run: async () => {} }
  const works: KeyWork[] = []
  const run = async <Outcome>(work: KeyWork) => {
    works.push(work)
    await meanwhile.run()
    const cheap = work.step === 'encrypt' && !dear
    return (cheap ? encrypt(work.secret, work.password, 4) : doKeyWork(work)) as Outcome
  }
  const cipher: KeyCipher = {
    encrypt: (secret, password) => run({ step: 'encrypt', secret, password }),
    decrypt: (ncryptsec, password) => run({ step: 'decrypt', ncryptsec, password }),
  }
  const open = () => createKeyBox({ name: 'test', store: kept.store, cipher, now: () => clock.now })
  return { ...kept, clock, meanwhile, works, open, box: open() }
}

async function failure(action: Promise<unknown>): Promise<[code: string, waitSeconds: number]> {
  const cause = await action.then(
    () => null,
    (cause: unknown) => cause,
  )
  if (!(cause instanceof SignerError)) throw new Error(`no signer error: ${cause}`)
  return [cause.code, cause.waitSeconds]
}

const storedIn = (store: LastingStore) => JSON.parse(store.read(place) ?? '') as KeptKey

test('a new PIN opens the same key at the same cost, and the old one opens it no longer', async () => {
  const { box, store } = openBox({ dear: true })
  const { pubkey } = await box.create(pin)
  const before = storedIn(store)
  await box.changePin(pin, '135791')
  const after = storedIn(store)
  expect(after.ncryptsec).not.toBe(before.ncryptsec)
  // The first bytes (NIP-49): version 2, and 2^16 rounds of scrypt.
  expect(after.ncryptsec).toStartWith('ncryptsec1qgg')
  expect((await box.unlock('135791')).pubkey).toBe(pubkey)
  expect(await failure(box.unlock(pin))).toEqual(['pin-wrong', 0])
  expect(decrypt(after.ncryptsec, '135791')).toEqual(decrypt(before.ncryptsec, pin))
})

test('a wrong or short PIN changes nothing', async () => {
  const { box, store, writes } = openBox()
  await box.create(pin)
  const before = store.read(place)
  writes.length = 0
  expect(await failure(box.changePin('000000', '135791'))).toEqual(['pin-wrong', 0])
  expect(await failure(box.changePin(pin, '13579'))).toEqual(['pin-short', 0])
  expect(store.read(place)).toBe(before)
  expect(writes).not.toContain(place)
})

test('the old PIN still holds where the browser cannot store the new one', async () => {
  const { box, state, texts, open } = openBox()
  const { pubkey } = await box.create(pin)
  const before = texts.get(place)
  state.full = true
  expect(await failure(box.changePin(pin, '135791'))).toEqual(['pin-not-stored', 0])
  expect(texts.get(place)).toBe(before)
  expect((await open().unlock(pin)).pubkey).toBe(pubkey)
})

test('a key that lives in memory alone gets a new PIN there', async () => {
  const { box, state } = openBox()
  state.full = true
  const { pubkey } = await box.create(pin)
  await box.changePin(pin, '135791')
  expect((await box.unlock('135791')).pubkey).toBe(pubkey)
})

test('a damaged key is called so, and its tries are not counted', async () => {
  const { box, open, store, writes } = openBox()
  await box.create(pin)
  const { pubkey, ncryptsec } = storedIn(store)
  const damaged = ncryptsec.slice(0, 50) + (ncryptsec[50] === 'q' ? 'p' : 'q') + ncryptsec.slice(51)
  store.write(place, JSON.stringify({ pubkey, ncryptsec: damaged }))
  writes.length = 0
  expect(await failure(box.unlock(pin))).toEqual(['key-unreadable', 0])
  expect(writes).toEqual([])
  box.remove()
  expect(await failure(open().bring(damaged, { password: pin, pin }))).toEqual(['key-cut', 0])
  expect((await open().bring(ncryptsec.toUpperCase(), { password: pin, pin })).pubkey).toBe(pubkey)
})

test('a new PIN does not replace a key that another tab stored meanwhile, nor bring back a removed one', async () => {
  for (const later of ['222222', null]) {
    for (const at of [2, 3]) {
      const { box, open, store, meanwhile } = openBox()
      await box.create(pin)
      const otherTab = open()
      let expected: string | null = null
      let works = 0
      meanwhile.run = async () => {
        works++
        if (works !== at) return
        otherTab.remove()
        if (later !== null) await otherTab.create(later)
        expected = store.read(place)
      }
      expect(await failure(box.changePin(pin, '135791'))).toEqual(['key-changed', 0])
      expect(store.read(place)).toBe(expected)
    }
  }
})

test('a PIN opens or changes only the key that the page shows', async () => {
  const { box, open, store } = openBox()
  const { pubkey } = await box.create(pin)
  open().remove()
  expect(await failure(box.unlock(pin))).toEqual(['key-changed', 0])
  expect(await failure(box.changePin(pin, '135791'))).toEqual(['key-changed', 0])
  const other = await open().create(pin)
  const stored = store.read(place)
  expect(await failure(box.unlock(pin, pubkey))).toEqual(['key-changed', 0])
  expect(await failure(box.changePin(pin, '135791', pubkey))).toEqual(['key-changed', 0])
  expect(store.read(place)).toBe(stored)
  expect((await box.unlock(pin, other.pubkey)).pubkey).toBe(other.pubkey)
})

test('a new or brought key does not replace another one; the same one gets a new PIN', async () => {
  const { box, store } = openBox()
  const secret = new Uint8Array(32).fill(7)
  const { pubkey } = await box.bring(nsecOf(secret), { password: pin, pin })
  const stored = store.read(place)
  expect(await failure(box.create(pin))).toEqual(['key-kept', 0])
  expect(
    await failure(box.bring(nsecOf(new Uint8Array(32).fill(8)), { password: pin, pin })),
  ).toEqual(['key-kept', 0])
  expect(store.read(place)).toBe(stored)
  await box.bring(nsecOf(secret), { password: '135791', pin: '135791' })
  expect((await box.unlock('135791')).pubkey).toBe(pubkey)
})

test('a stored text that is no key is never replaced, only removed', async () => {
  for (const spoilt of ['', '{"half', '{"ncryptsec":"x"}', '{"pubkey":"x","ncryptsec":"y"}']) {
    const { box, store } = openBox()
    store.write(place, spoilt)
    expect(box.find()).toBeNull()
    expect(await failure(box.create(pin))).toEqual(['key-unreadable', 0])
    const secret = new Uint8Array(32).fill(7)
    expect(await failure(box.bring(nsecOf(secret), { password: pin, pin }))).toEqual([
      'key-unreadable',
      0,
    ])
    expect(store.read(place)).toBe(spoilt)
    box.remove()
    await box.create(pin)
    expect(box.find()).not.toBeNull()
  }
})

test('a key is encrypted while its PIN is typed, and once', async () => {
  const { box, works, store } = openBox()
  box.prepare('24681')
  expect(works).toHaveLength(0)
  box.prepare(pin)
  box.prepare(pin)
  expect(works).toHaveLength(1)
  const { pubkey } = await box.create(pin)
  expect(works).toHaveLength(1)
  expect(decrypt(storedIn(store).ncryptsec, pin)).toHaveLength(32)
  expect(storedIn(store).pubkey).toBe(pubkey)
  // Another PIN than the prepared one, and a key that was used already.
  box.remove()
  box.prepare('135791')
  const other = await box.create(pin)
  expect((await box.unlock(pin)).pubkey).toBe(other.pubkey)
  expect(other.pubkey).not.toBe(pubkey)
})

test('a copy under a password of its own comes in under a new PIN, for the expected key alone', async () => {
  const { box } = openBox()
  const { pubkey } = await box.create(pin)
  const copy = encrypt(new Uint8Array(32).fill(7), 'seis palabras', 4)
  const other = openBox().box
  const password = 'seis palabras'
  const bring = (text: string, opens: string, only?: string) =>
    other.bring(text, { password: opens, pin: '135791', only })
  expect(await failure(bring(copy, pin))).toEqual(['copy-wrong', 0])
  expect(await failure(bring(copy, password, pubkey))).toEqual(['other-key', 0])
  const brought = await bring(copy, password)
  expect((await other.unlock('135791')).pubkey).toBe(brought.pubkey)
  expect(await failure(other.unlock(password))).toEqual(['pin-wrong', 0])
})

test('a second copy opens by its own password, at the same cost, and changes nothing here', async () => {
  const { box, store, works } = openBox({ dear: true })
  const { pubkey } = await box.create(pin)
  const before = store.read(place)
  works.length = 0
  const copy = await box.copy(pin, 'seis palabras', pubkey)
  // The last one shows that the copy opens.
  expect(works.map(({ step }) => step)).toEqual(['decrypt', 'encrypt', 'decrypt'])
  expect(copy).toStartWith('ncryptsec1qgg')
  expect(decrypt(copy, 'seis palabras')).toEqual(decrypt(storedIn(store).ncryptsec, pin))
  expect(store.read(place)).toBe(before)
  expect(await failure(box.copy('000000', 'seis palabras'))).toEqual(['pin-wrong', 0])
  expect(await failure(box.copy(pin, 'seis palabras', '0'.repeat(64)))).toEqual(['key-changed', 0])
})

test('a password of one’s own is long, and neither digits alone nor a pattern', () => {
  const cases = [
    ['corta', 'short'],
    ['12345678901', 'short'],
    ['', 'short'],
    ['123456789012', 'simple'],
    ['0000 1111 2222 3333', 'simple'],
    ['abababababab', 'simple'],
    ['mi perro se llama Toto', null],
    ['Xk9-pQ2-vR7-z', null],
  ] as const
  for (const [password, trouble] of cases) expect(copyPasswordTrouble(password)).toBe(trouble)
})

test('a backup of the same cost is stored as it is, a cheaper one is encrypted anew', async () => {
  const { box, works, store } = openBox({ dear: true })
  const secret = new Uint8Array(32).fill(7)
  const cheap = encrypt(secret, pin, 4)
  await box.bring(cheap, { password: pin, pin })
  expect(works.map(({ step }) => step)).toEqual(['decrypt', 'encrypt'])
  const { ncryptsec } = storedIn(store)
  expect(ncryptsec).toStartWith('ncryptsec1qgg')
  works.length = 0
  await box.bring(ncryptsec, { password: pin, pin })
  expect(works.map(({ step }) => step)).toEqual(['decrypt'])
  expect(storedIn(store).ncryptsec).toBe(ncryptsec)
})

test('wrong PINs make the next try wait, in a reloaded page too, and a right one ends it', async () => {
  const { box, clock, open } = openBox()
  await box.create(pin)
  expect(await failure(box.unlock('000000'))).toEqual(['pin-wrong', 0])
  expect(await failure(box.changePin('000001', '135791'))).toEqual(['pin-wrong', 0])
  expect(await failure(box.unlock('000002'))).toEqual(['pin-wrong', 5])
  // The right PIN has to wait as well: else a try would tell.
  const reloaded = open()
  expect(await failure(reloaded.unlock(pin))).toEqual(['pin-wait', 5])
  clock.now += 4_001
  expect(await failure(reloaded.unlock(pin))).toEqual(['pin-wait', 1])
  clock.now += 1_000
  expect(await failure(reloaded.unlock('000003'))).toEqual(['pin-wrong', 10])
  clock.now += 10_000
  await reloaded.unlock(pin)
  expect(await failure(reloaded.unlock('000004'))).toEqual(['pin-wrong', 0])
})

test('a wait doubles up to five minutes and no further, whatever the clock does', () => {
  const clock = { now: 1_000_000_000 }
  const { store, texts } = createStore()
  const tries = createPinTries('tries', store, () => clock.now)
  const waits = Array.from({ length: 12 }, () => {
    tries.count()
    return tries.waitSeconds()
  })
  expect(waits).toEqual([0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300, 300])
  clock.now -= 500_000_000
  expect(tries.waitSeconds()).toBe(300)
  clock.now += 299_000
  expect(tries.waitSeconds()).toBe(1)
  clock.now += 1_000
  expect(tries.waitSeconds()).toBe(0)
  // Invalid stored data counts as none.
  for (const spoilt of ['{"half', '7', '{"wrong":"9","at":1}', '{"wrong":9}']) {
    texts.set('tries', spoilt)
    expect(tries.waitSeconds()).toBe(0)
  }
})
