/** Signatures that a thread makes and checks while operations go on. */
import { afterEach, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { createCryptoThread } from '../../src/crypto/crypto-thread.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { TaskRing } from '../../src/crypto/task-ring.ts'
import { until } from '../support/until.ts'

const engine = openSchnorr()
const secret = new Uint8Array(32).fill(3)
const pair = engine.keypair(secret)
const usual = { ...limits }
const stops: (() => void)[] = []

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  Object.assign(limits, usual)
})

const hashOf = (number: number) => Bun.SHA256.hash(String(number), new Uint8Array(32)) as Uint8Array
const right = (signature: Uint8Array, number: number) =>
  engine.verify(signature, hashOf(number), pair.pubkey)

describe('a ring without a thread', () => {
  /** Hashes that this side signed itself, by their number. */
  function counting() {
    const signed: string[] = []
    const sign = (hash: Uint8Array) => {
      signed.push(hash.toHex())
      return pair.sign(hash)
    }
    return { signed, sign }
  }

  test('gives back what nobody has begun', () => {
    const ring = new TaskRing()
    const { sign, signed } = counting()
    const numbers = [0, 1, 2].map((number) => ring.post(hashOf(number), true) ?? -1)
    expect(numbers).toEqual([0, 1, 2])
    for (const number of [2, 0, 1])
      expect(right(ring.take(number, hashOf(number), sign), number)).toBe(true)
    expect(signed).toEqual([2, 0, 1].map((number) => hashOf(number).toHex()))
  })

  test('takes no task that is longer than a check', () => {
    const ring = new TaskRing()
    expect([ring.post(new Uint8Array(129), true), ring.post(new Uint8Array(128), true)]).toEqual([
      null,
      0,
    ])
  })

  test('has room for a lap, and a hash that was passed over is signed by who needs it', () => {
    const ring = new TaskRing()
    const { sign, signed } = counting()
    const lap = 1024
    for (let number = 0; number < lap + 5; number++) {
      expect(ring.post(hashOf(number), false)).toBe(number)
    }
    // The slot has another hash by now.
    expect(right(ring.take(3, hashOf(3), sign), 3)).toBe(true)
    expect(right(ring.take(lap + 3, hashOf(lap + 3), sign), lap + 3)).toBe(true)
    expect(signed).toEqual([hashOf(3).toHex(), hashOf(lap + 3).toHex()])
  })

  test('does not wait for ever for a thread that stopped in the middle, nor use its slot', () => {
    const ring = new TaskRing()
    const { sign } = counting()
    const [first, second] = [ring.post(hashOf(1), false) ?? -1, ring.post(hashOf(2), false) ?? -1]
    const dies = () => {
      throw new Error('it stopped')
    }
    const serving = new TaskRing(ring.memory)
    expect(() => serveFrom(serving, ring, dies)).toThrow('it stopped')
    // Meanwhile this side signs what comes behind it.
    expect(right(ring.take(first, hashOf(1), sign), 1)).toBe(true)
    expect(right(ring.take(second, hashOf(2), sign), 2)).toBe(true)
    for (let number = 3; number < 1025; number++) ring.post(hashOf(number), false)
    expect(ring.post(hashOf(9), false)).toBeNull()
  })

  /** Serve as if the thread had begun before anything was posted. */
  function serveFrom(serving: TaskRing, { memory }: TaskRing, sign: () => never) {
    const control = new Int32Array(memory, 0, 1)
    const posted = Atomics.load(control, 0)
    Atomics.store(control, 0, 0)
    const wait = Atomics.wait
    Atomics.wait = (() => {
      Atomics.store(control, 0, posted)
      return 'not-equal'
    }) as typeof wait
    try {
      serving.serve(sign, 1)
    } finally {
      Atomics.wait = wait
    }
  }
})

describe('a thread', () => {
  function open(spawn?: () => Worker, checking = engine) {
    const failures: string[] = []
    const failed = (message: string) => void failures.push(message)
    const thread = createCryptoThread({
      ...{ engine: checking, pair, secret, failed },
      ...(spawn && { spawn }),
    })
    stops.push(thread.stop)
    let number = 0
    /** Begin so many signatures, then ask for all. Returns how many of them another thread has made. */
    const many = (count: number, own = pair.sign) => {
      const begun = Array.from({ length: count }, () => {
        const at = number++
        return { at, signature: thread.begin(hashOf(at)) }
      })
      let here = 0
      const sign = pair.sign
      pair.sign = (hash, aux) => {
        here++
        return own(hash, aux)
      }
      try {
        for (const { at, signature } of begun) expect(right(signature(), at)).toBe(true)
      } finally {
        pair.sign = sign
      }
      return count - here
    }
    return { thread, failures, many }
  }

  test('signs a part of many, and all signatures are right', async () => {
    const { many, failures } = open()
    let elsewhere = 0
    await until('signatures of the thread', async () => {
      elsewhere += many(100)
      return elsewhere > 500
    })
    expect(failures).toEqual([])
  })

  test('signs what is wanted of more than the ring holds', async () => {
    const { thread, many } = open()
    await until('a signature of the thread', async () => many(64) > 0)
    for (let lap = 0; lap < 20; lap++) {
      const begun = Array.from({ length: 1500 }, (_, at) => thread.begin(hashOf(at)))
      for (let at = lap; at < begun.length; at += 97) {
        expect(right(begun[at]?.() ?? new Uint8Array(64), at)).toBe(true)
      }
    }
  })

  describe('checks signatures', () => {
    /** Checks of a hash, each with what is right: the signature, and three that are not. */
    function checksOf(number: number): [Parameters<typeof engine.verify>, boolean][] {
      const hash = hashOf(number)
      const good = signatures.get(number) ?? pair.sign(hash)
      signatures.set(number, good)
      const bad = good.with(number % 64, (good[number % 64] ?? 0) ^ 1)
      return [
        [[good, hash, pair.pubkey], true],
        [[bad, hash, pair.pubkey], false],
        [[good, hashOf(number + 1), pair.pubkey], false],
        [[good, hash, stranger.pubkey], false],
      ]
    }
    const signatures = new Map<number, Uint8Array>()
    const stranger = engine.keypair(new Uint8Array(32).fill(4))

    /** Check so many hashes at once. Returns how many checks another thread has made. */
    function openChecks() {
      let here = 0
      const counting = {
        ...engine,
        verify(...check: Parameters<typeof engine.verify>) {
          here++
          return engine.verify(...check)
        },
      }
      const { thread, failures, many } = open(undefined, counting)
      const checked = async (count: number) => {
        here = 0
        const checks = Array.from({ length: count }, (_, number) => checksOf(number)).flat()
        const answers = checks.map(([check]) => thread.verify(...check))
        expect(await Promise.all(answers)).toEqual(checks.map(([, wanted]) => wanted))
        return checks.length - here
      }
      return { thread, failures, checked, many }
    }

    test('of many callers, and every answer is right', async () => {
      const { checked, failures } = openChecks()
      let elsewhere = 0
      await until('checks of the thread', async () => {
        elsewhere += await checked(16)
        return elsewhere > 200
      })
      expect(failures).toEqual([])
    })

    test('of more than the ring holds', async () => {
      const { checked } = openChecks()
      await until('a check of the thread', async () => (await checked(16)) > 0)
      await checked(300)
    })

    test('beside hashes to sign', async () => {
      const { checked, many } = openChecks()
      await until('a check of the thread', async () => (await checked(16)) > 0)
      for (let times = 0; times < 20; times++) {
        const answers = checked(20)
        many(50)
        await answers
      }
    })

    test('at once while there is no thread', () => {
      const { thread } = openChecks()
      for (const [check, wanted] of checksOf(1)) expect(thread.verify(...check)).toBe(wanted)
    })

    test('that were asked for when it stops', async () => {
      const { thread, checked } = openChecks()
      await until('a check of the thread', async () => (await checked(16)) > 0)
      const answers = checked(50)
      thread.stop()
      await answers
      expect(await checked(16)).toBe(0)
    })
  })

  test('that the machine does not give is told once, and signatures go on', () => {
    const { many, failures } = open(() => {
      throw new TypeError('Failed to spawn worker thread')
    })
    expect([many(64), many(64)]).toEqual([0, 0])
    expect(failures).toEqual(['Failed to spawn worker thread'])
  })

  test('does not start for few', async () => {
    let spawned = 0
    const { many } = open(() => {
      spawned++
      throw new Error('it is not needed')
    })
    for (let times = 0; times < 50; times++) expect(many(limits.cryptoThreadFrom - 1)).toBe(0)
    expect(spawned).toBe(0)
  })

  test('ends when it has nothing to do, and starts again', async () => {
    Object.assign(limits, { cryptoThreadIdleSeconds: 0.05 })
    const workers: Worker[] = []
    const { many } = open(() => {
      const worker = new Worker(new URL('../../src/crypto/crypto-worker.ts', import.meta.url))
      workers.push(worker)
      return worker
    })
    await until('another thread', async () => {
      many(limits.cryptoThreadFrom)
      await Bun.sleep(100)
      return workers.length > 2
    })
  })

  test('that cannot start is told once, and signatures go on', async () => {
    const { many, failures } = open(
      () => new Worker(new URL('data:text/javascript,throw new Error("broken")')),
    )
    await until('the failure', async () => many(64) === 0 && failures.length > 0)
    expect(many(64)).toBe(0)
    await Bun.sleep(0)
    expect(failures).toHaveLength(1)
  })

  test('that ends by itself is told once, and signatures go on', async () => {
    const { many, failures } = open(
      () => new Worker(new URL('data:text/javascript,onmessage = () => process.exit(0)')),
    )
    await until('the failure', async () => many(64) === 0 && failures.length > 0)
    expect([many(64), failures]).toEqual([0, ['it ended']])
  })

  test('with another key is not used', async () => {
    const source = `onmessage = () => postMessage({ ready: new Uint8Array(32) })`
    const { many, failures } = open(
      () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`)),
    )
    await until('the failure', async () => many(64) === 0 && failures.length > 0)
    expect(failures).toEqual(['it has another key'])
  })

  test('ends with its service, also while it sleeps', async () => {
    const closed = Promise.withResolvers<void>()
    const { many, thread } = open(() => {
      const worker = new Worker(new URL('../../src/crypto/crypto-worker.ts', import.meta.url))
      worker.addEventListener('close', () => closed.resolve())
      return worker
    })
    await until('a signature of the thread', async () => many(64) > 0)
    thread.stop()
    await closed.promise
    expect(many(64)).toBe(0)
  })
})
