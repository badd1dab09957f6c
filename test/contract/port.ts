import { afterEach, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { Database, Leases, News } from '../../src/db/database.ts'
import type { Topic } from '../../src/db/news.ts'

/** The smallest store that shows every promise of a transaction. */
export type Notes = {
  put(name: string, value: string): Promise<void>
  find(name: string): Promise<string | null>
  count(): Promise<number>
  /** A statement the engine itself refuses: the name is taken. */
  insert(name: string, value: string): Promise<void>
}

/** An engine on a fresh, empty set of notes. */
export type EngineUnderTest = {
  database: Database<Notes> & Leases & News
  /** The notes that another connection sees now: the committed ones. */
  peek(name: string): string | null | Promise<string | null>
  /** Finish waiting operations and close the database. `peek` goes on. */
  close(): Promise<void>
}

/** An engine with operations one after the other, whose notes are seen at once. */
export type SerialEngineUnderTest = EngineUnderTest & { peek(name: string): string | null }

class Bug extends Error {}

const byText = (a: string, b: string) => (a < b ? -1 : 1)

/** An operation that says it writes as many rows as the largest mint. */
function writeMany(database: Database<Notes>, name: string): Promise<void> {
  return database.transact({ roots: 'none', rows: limits.mintCountMax }, (tx) => tx.put(name, '1'))
}

/** Never called: an operation that does not name its roots does not compile. */
export async function rootsAreRequired(database: Database<Notes>): Promise<void> {
  // @ts-expect-error: an operation alone
  await database.transact(async () => undefined)
  // @ts-expect-error: a plan without roots
  await database.transact({ rows: 1 }, async () => undefined)
  // @ts-expect-error: a kind that there is not
  await database.transact({ roots: ['everything'] }, async () => undefined)
}

type Open<One> = () => One

/** Tests of one engine, and engines that are closed after their test. */
function frame<One extends EngineUnderTest | Promise<EngineUnderTest>>(
  engine: string,
  open: Open<One>,
) {
  const opened: One[] = []
  afterEach(async () => {
    for (const one of opened.splice(0)) await (await one).close()
  })
  return {
    it: (claim: string, run: () => Promise<void>) => test(`${engine}: ${claim}`, run),
    start(): One {
      const one = open()
      opened.push(one)
      return one
    },
  }
}

/**
 * The promises of `database.ts` as tests: every engine must pass them. `sideBySide` are the operations, of few rows and of
 * many, that it runs at once: those behind them wait.
 */
export function describeEngine(
  engine: string,
  open: () => EngineUnderTest | Promise<EngineUnderTest>,
  sideBySide = { light: 0, heavy: 0 },
): void {
  const { it, start } = frame(engine, open)

  it('an operation is answered only after its write is committed', async () => {
    const { database, peek } = await start()
    let inside: string | null = 'never run'
    const answer = database.transact({ roots: 'none' }, async (tx) => {
      await tx.put('a', '1')
      inside = await peek('a')
      return 'done'
    })
    expect(await answer).toBe('done')
    expect(inside).toBeNull()
    expect(await peek('a')).toBe('1')
  })

  it('a refusal undoes its operation alone, and reaches the caller unchanged', async () => {
    const { database, peek } = await start()
    const refusal = new Refusal('coupon-exhausted')
    const settled = await Promise.allSettled([
      database.transact({ roots: 'none' }, (tx) => tx.put('before', '1')),
      database.transact({ roots: 'none' }, async (tx) => {
        await tx.put('refused', '1')
        await tx.put('before', 'overwritten')
        throw refusal
      }),
      database.transact({ roots: 'none' }, (tx) => tx.put('after', '1')),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((settled[1] as PromiseRejectedResult).reason).toBe(refusal)
    expect([await peek('before'), await peek('refused'), await peek('after')]).toEqual([
      '1',
      null,
      '1',
    ])
  })

  it('an effect runs after the commit and before the answer', async () => {
    const { database, peek } = await start()
    const seen: string[] = []
    const looked: ReturnType<typeof peek>[] = []
    await database
      .transact({ roots: 'none' }, async (tx) => {
        await tx.put('a', '1')
        tx.afterCommit(() => {
          looked.push(peek('a'))
          seen.push('effect')
        })
        seen.push('inside')
      })
      .then(() => seen.push('answered'))
    expect(seen).toEqual(['inside', 'effect', 'answered'])
    expect(await looked[0]).toBe('1')
  })

  it('a refused operation has no effect, and the part that ran first keeps its own', async () => {
    const { database } = await start()
    const done: string[] = []
    const settled = await Promise.allSettled([
      database.transact({ roots: 'none' }, async (tx) => tx.afterCommit(() => done.push('before'))),
      database.transact(
        { roots: 'none', first: async (tx) => tx.afterCommit(() => done.push('first')) },
        async (tx) => {
          tx.afterCommit(() => done.push('refused'))
          throw new Refusal('coupon-exhausted')
        },
      ),
      database.transact(
        {
          roots: 'none',
          first: async (tx) => {
            tx.afterCommit(() => done.push('refused first'))
            throw new Refusal('auth-replay')
          },
        },
        async () => undefined,
      ),
      database.transact({ roots: 'none' }, async (tx) => tx.afterCommit(() => done.push('after'))),
    ])
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect(done.toSorted(byText)).toEqual(['after', 'before', 'first', 'refused first'])
  })

  it('news are told after the commit and before the answer, those of a refused operation never', async () => {
    const { database, peek } = await start()
    const topic: Topic<{ name: string; bytes: Uint8Array }> = { name: 'notes' }
    const bytes = new Uint8Array([1, 0, 255])
    const seen: string[] = []
    const looked: ReturnType<typeof peek>[] = []
    database.listen(topic, {
      told(news) {
        expect(news.bytes).toEqual(bytes)
        looked.push(peek(news.name))
        seen.push(news.name)
      },
      missed: () => void seen.push('missed'),
    })
    await database.transact({ roots: 'none' }, async (tx) => {
      await tx.put('a', '1')
      tx.tell(topic, { name: 'a', bytes })
    })
    seen.push('answered')
    const refused = database.transact(
      { roots: 'none', first: async (tx) => tx.tell(topic, { name: 'first', bytes }) },
      async (tx) => {
        tx.tell(topic, { name: 'refused', bytes })
        throw new Refusal('coupon-exhausted')
      },
    )
    await expect(refused).rejects.toThrow(Refusal)
    await database.tell(topic, { name: 'alone', bytes })
    expect([seen, await looked[0]]).toEqual([['a', 'answered', 'first', 'alone'], '1'])
  })

  it('an effect that throws stops neither other effects nor the answer', async () => {
    const { database, peek } = await start()
    const done: string[] = []
    const answers = await Promise.all([
      database.transact({ roots: 'none' }, async (tx) => {
        await tx.put('a', '1')
        tx.afterCommit(() => {
          throw new Bug('a mistake in an effect')
        })
        tx.afterCommit(() => done.push('the next one'))
        return 'a'
      }),
      database.transact({ roots: 'none' }, async (tx) => {
        tx.afterCommit(() => done.push("another's"))
        return 'b'
      }),
    ])
    expect([answers, done.toSorted(byText), await peek('a')]).toEqual([
      ['a', 'b'],
      ["another's", 'the next one'],
      '1',
    ])
  })

  it('a lease that no other node has is given, and again after it was given back', async () => {
    const { database } = await start()
    const lease = await database.lease('sweep')
    expect(lease?.held()).toBe(true)
    await lease?.release()
    expect(lease?.held()).toBe(false)
    const again = await database.lease('sweep')
    expect(again?.held()).toBe(true)
    expect(lease?.held()).toBe(false)
    await again?.release()
  })

  it('parts of a node share a lease, and the last of them gives it back', async () => {
    const { database } = await start()
    const [one, two] = await Promise.all(['sweep', 'sweep'].map((name) => database.lease(name)))
    expect([one?.held(), two?.held()]).toEqual([true, true])
    await one?.release()
    await one?.release()
    expect([one?.held(), two?.held()]).toEqual([false, true])
    await two?.release()
    expect([one?.held(), two?.held()]).toEqual([false, false])
  })

  it('leases of different names are held at the same time, beside writes and reads', async () => {
    const { database } = await start()
    const leases = await Promise.all(['sweep', 'courier'].map((name) => database.lease(name)))
    await database.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
    expect(await database.snapshot((tx) => tx.find('a'))).toBe('1')
    expect(leases.map((lease) => lease?.held())).toEqual([true, true])
    await leases[0]?.release()
    expect(leases.map((lease) => lease?.held())).toEqual([false, true])
    await leases[1]?.release()
  })

  it('a snapshot sees one state throughout, and every write answered before it', async () => {
    const { database } = await start()
    await database.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
    let written: Promise<void> | undefined
    const seen = await database.snapshot(async (tx) => {
      const before = await tx.find('a')
      written = database.transact({ roots: 'none' }, (other) => other.put('a', '2'))
      await Promise.resolve()
      return [before, await tx.find('a'), await tx.count()]
    })
    await written
    expect(seen).toEqual(['1', '1', 1])
    expect(await database.snapshot((tx) => tx.find('a'))).toBe('2')
  })

  it('a look sees every write answered before it', async () => {
    const { database } = await start()
    expect(await database.look((tx) => tx.find('a'))).toBeNull()
    for (const value of ['1', '2']) {
      await database.transact({ roots: 'none' }, (tx) => tx.put('a', value))
      expect(await database.look((tx) => tx.find('a'))).toBe(value)
    }
  })

  it('a bug rejects its operation alone, with its cause, and undoes it', async () => {
    const { database, peek } = await start()
    const bug = new Bug('a mistake in the operation')
    const settled = await Promise.allSettled([
      database.transact({ roots: 'none' }, (tx) => tx.put('before', '1')),
      database.transact({ roots: 'none' }, async (tx) => {
        await tx.put('buggy', '1')
        throw bug
      }),
      database.transact({ roots: 'none' }, (tx) => tx.put('after', '1')),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((settled[1] as PromiseRejectedResult).reason).toBe(bug)
    expect([await peek('before'), await peek('buggy'), await peek('after')]).toEqual([
      '1',
      null,
      '1',
    ])
  })

  it('a step runs behind its operation, and before its effects and its answer', async () => {
    const { database } = await start()
    const done: string[] = []
    await database.transact({ roots: 'none' }, async (tx) => {
      tx.afterCommit(() => done.push('effect'))
      tx.beforeCommit(() => done.push('step'))
      tx.beforeCommit(() => done.push('next step'))
      await tx.put('a', '1')
      done.push('operation')
    })
    done.push('answer')
    expect(done).toEqual(['operation', 'step', 'next step', 'effect', 'answer'])
  })

  it('a refused operation has no step, and one whose step fails has no writes', async () => {
    const { database, peek } = await start()
    const steps: string[] = []
    const bug = new Bug('a mistake in the step')
    const operation = (name: string, outcome: 'good' | 'refused' | 'undone' | 'late') =>
      database.transact({ roots: 'none' }, async (tx) => {
        tx.beforeCommit(() => {
          steps.push(name)
          if (outcome === 'late') throw bug
        })
        if (outcome === 'refused') throw new Refusal('coupon-unknown')
        await tx.put(name, '1')
        if (outcome === 'undone') throw new Refusal('coupon-unknown')
      })
    const all = async (outcomes: Parameters<typeof operation>[1][]) => {
      steps.length = 0
      return await Promise.allSettled(outcomes.map((one) => operation(one, one)))
    }
    const statuses = (settled: PromiseSettledResult<unknown>[]) =>
      settled.map(({ status }) => status)
    expect(statuses(await all(['good', 'refused']))).toEqual(['fulfilled', 'rejected'])
    expect(steps).toEqual(['good'])
    expect(statuses(await all(['undone', 'good']))).toEqual(['rejected', 'fulfilled'])
    expect(steps).toEqual(['good'])
    const settled = await all(['good', 'late', 'refused'])
    expect(statuses(settled)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect((settled[1] as PromiseRejectedResult).reason).toBe(bug)
    expect(steps).not.toContain('refused')
    expect([await peek('good'), await peek('undone'), await peek('late')]).toEqual([
      '1',
      null,
      null,
    ])
  })

  it('a broken constraint rejects its operation alone', async () => {
    const { database, peek } = await start()
    await database.transact({ roots: 'none' }, (tx) => tx.insert('a', 'first'))
    const settled = await Promise.allSettled([
      database.transact({ roots: 'none' }, (tx) => tx.insert('beside', '1')),
      database.transact({ roots: 'none' }, async (tx) => {
        await tx.put('with', '1')
        await tx.insert('a', 'second')
      }),
      database.transact({ roots: 'none' }, (tx) => tx.insert('b', 'third')),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([await peek('a'), await peek('with'), await peek('b')]).toEqual(['first', null, 'third'])
  })

  it('writes of the first part stay when the operation behind it is refused or buggy', async () => {
    const { database, peek } = await start()
    for (const cause of [new Refusal('coupon-unknown'), new Bug('later')]) {
      const first = (tx: Notes) => tx.put(`used ${cause.name}`, 'yes')
      const refused = database.transact({ roots: 'none', first }, async (tx) => {
        await tx.put('operation', 'ran')
        throw cause
      })
      expect(await refused.catch((reason: unknown) => reason)).toBe(cause)
      expect([await peek(`used ${cause.name}`), await peek('operation')]).toEqual(['yes', null])
    }
  })

  it('writes, effects and news of a first part that is refused itself stay', async () => {
    const { database, peek } = await start()
    const limited = new Refusal('rate-limited')
    const told: string[] = []
    const topic: Topic<string> = { name: 'notes' }
    database.listen(topic, { told: (body) => told.push(body), missed: () => undefined })
    const refused = database.transact(
      {
        roots: 'none',
        first: async (tx) => {
          await tx.put('used', 'yes')
          tx.afterCommit(() => told.push('effect'))
          tx.tell(topic, 'news')
          throw limited
        },
      },
      (tx) => tx.put('operation', 'ran'),
    )
    expect(await refused.catch((reason: unknown) => reason)).toBe(limited)
    expect([await peek('used'), await peek('operation')]).toEqual(['yes', null])
    expect(told).toEqual(['effect', 'news'])
  })

  it('a refused first part stops the operation behind it and no other', async () => {
    const { database, peek } = await start()
    const replay = new Refusal('auth-replay')
    let ran = false
    const settled = await Promise.allSettled([
      database.transact(
        {
          roots: 'none',
          first: async () => {
            throw replay
          },
        },
        async () => {
          ran = true
        },
      ),
      database.transact({ roots: 'none' }, (tx) => tx.put('other', '1')),
    ])
    expect((settled[0] as PromiseRejectedResult).reason).toBe(replay)
    expect([ran, await peek('other')]).toEqual([false, '1'])
  })

  it('a read sees every write that was answered before it began', async () => {
    const { database } = await start()
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let turn = 0; turn < 20; turn++) {
        const name = `${lane} ${turn}`
        await database.transact({ roots: 'none' }, (tx) => tx.put(name, 'written'))
        expect(await database.snapshot((tx) => tx.find(name))).toBe('written')
      }
    })
    await Promise.all(lanes)
  })

  it('a read sees one state, however many writes are answered meanwhile', async () => {
    const { database } = await start()
    const writing = Array.from({ length: 100 }, (_, at) =>
      database.transact({ roots: 'none' }, async (tx) => {
        await tx.put(`left ${at}`, '1')
        await tx.put(`right ${at}`, '1')
      }),
    )
    const reading = Array.from({ length: 100 }, async (_, at) => {
      for (let turn = 0; turn < at % 7; turn++) await new Promise((next) => setImmediate(next))
      const counts = await database.snapshot(async (tx) => {
        const before = await tx.count()
        for (let turn = 0; turn < 3; turn++) await Promise.resolve()
        return [before, await tx.count()]
      })
      expect(counts[0]).toBe(counts[1])
      expect(Number(counts[0]) % 2).toBe(0)
    })
    await Promise.all([...writing, ...reading])
  })

  it('a read cannot write', async () => {
    const { database, peek } = await start()
    const written = database.snapshot((tx) => tx.put('a', '1')).catch((cause: unknown) => cause)
    expect(await written).toBeInstanceOf(Error)
    expect(await peek('a')).toBeNull()
  })

  it('a failed read leaves the next ones alone', async () => {
    const { database } = await start()
    const bug = new Bug('in a query')
    const failed = database.snapshot(async () => {
      throw bug
    })
    expect(await failed.catch((cause: unknown) => cause)).toBe(bug)
    await database.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
    expect(await database.snapshot((tx) => tx.find('a'))).toBe('1')
  })

  it('operations that share a root run as if one came after the other', async () => {
    const { database, peek } = await start()
    const increment = () =>
      database.transact({ roots: [{ merchant: 'ab' }] }, async (tx) => {
        const before = Number((await tx.find('counter')) ?? '0')
        for (let turn = 0; turn < 5; turn++) await Promise.resolve()
        await tx.put('counter', String(before + 1))
      })
    await Promise.all(Array.from({ length: 100 }, increment))
    expect(await peek('counter')).toBe('100')
  })

  it('waiting operations are bounded: beyond the bound they are refused as overloaded, and the rest is done', async () => {
    const { database } = await start()
    const settled = await Promise.allSettled(
      Array.from({ length: limits.queueMax + sideBySide.light + 50 }, (_, at) =>
        database.transact({ roots: 'none' }, async () => at),
      ),
    )
    const refused = settled.filter((one) => one.status === 'rejected')
    expect(refused.length).toBe(50)
    for (const { reason } of refused) {
      expect(reason).toBeInstanceOf(Refusal)
      expect(reason.code).toBe('overloaded')
      expect(reason.detail.retryAfter).toBeGreaterThan(0)
    }
    expect(await database.transact({ roots: 'none' }, async () => 'again')).toBe('again')
  })

  it('heavy operations wait in their own bounded lane, and closing finishes them', async () => {
    const { database, peek, close } = await open()
    const taken = limits.heavyQueueMax + sideBySide.heavy
    const names = Array.from({ length: taken + 5 }, (_, at) => `heavy ${at}`)
    const settling = Promise.allSettled(names.map((name) => writeMany(database, name)))
    const light = database.transact({ roots: 'none' }, (tx) => tx.put('light', '1'))
    await close()
    await light
    const settled = await settling
    const refused = settled.filter((one) => one.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(5).fill('overloaded'))
    for (const { reason } of refused) expect(reason.detail.retryAfter).toBeGreaterThan(0)
    const values = await Promise.all(names.map(peek))
    expect(values.map((value) => value === '1')).toEqual(names.map((_, at) => at < taken))
    expect(await peek('light')).toBe('1')
  })

  it('closing finishes waiting operations and refuses later ones', async () => {
    const { database, peek, close } = await open()
    const waiting = Array.from({ length: 2 * limits.batchMax }, (_, at) =>
      database.transact({ roots: 'none' }, (tx) => tx.put(`waiting ${at}`, '1')),
    )
    const closing = close()
    const late = database
      .transact({ roots: 'none' }, (tx) => tx.put('late', '1'))
      .catch((cause: unknown) => cause)
    await closing
    const ends = ['waiting 0', `waiting ${waiting.length - 1}`, 'late']
    expect(await Promise.all(ends.map(peek))).toEqual(['1', '1', null])
    await Promise.all(waiting)
    const refusal = await late
    expect(refusal).toBeInstanceOf(Refusal)
    expect((refusal as Refusal).code).toBe('shutting-down')
  })
}

/** The promises of an engine that runs one operation after the other. */
export function describeSerialEngine(engine: string, open: () => SerialEngineUnderTest): void {
  const { it, start } = frame(engine, open)

  it('operations run one after the other, in the order they came', async () => {
    const { database, peek } = start()
    let running = 0
    const seen: number[] = []
    const increment = (at: number) =>
      database.transact({ roots: 'none' }, async (tx) => {
        expect(++running).toBe(1)
        const before = Number((await tx.find('counter')) ?? '0')
        for (let turn = 0; turn < 5; turn++) await Promise.resolve()
        await tx.put('counter', String(before + 1))
        seen.push(at)
        running--
      })
    const order = Array.from({ length: 3 * limits.batchMax }, (_, at) => at)
    await Promise.all(order.map(increment))
    expect(peek('counter')).toBe(String(order.length))
    expect(seen).toEqual(order)
  })

  it('steps run behind all operations of their commit, before any of it is seen', async () => {
    const { database, peek } = start()
    const done: unknown[] = []
    const operation = (name: string) =>
      database.transact({ roots: 'none' }, async (tx) => {
        tx.beforeCommit(() => done.push([name, peek('a'), peek('b')]))
        await tx.put(name, '1')
        done.push(name)
      })
    await Promise.all([operation('a'), operation('b')])
    expect(done).toEqual(['a', 'b', ['a', null, null], ['b', null, null]])
  })

  it('an operation that awaits anything but tx fails, and its whole batch is undone', async () => {
    const { database, peek } = start()
    const ended = Promise.withResolvers<unknown>()
    const settled = await Promise.allSettled([
      database.transact({ roots: 'none' }, (tx) => tx.put('before', '1')),
      database.transact({ roots: 'none' }, async (tx) => {
        await tx.put('early', '1')
        await Bun.sleep(30)
        // The stray half: long after its batch was given up, beside those of others.
        await tx.put('late', '1').then(ended.resolve, ended.resolve)
      }),
      database.transact({ roots: 'none' }, (tx) => tx.put('behind', '1')),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect((settled[1] as PromiseRejectedResult).reason).not.toBeInstanceOf(Refusal)
    await database.transact({ roots: 'none' }, (tx) => tx.put('next', '1'))
    expect(await ended.promise).toBeInstanceOf(Error)
    await database.transact({ roots: 'none' }, (tx) => tx.put('last', '1'))
    const names = ['before', 'early', 'late', 'behind', 'next', 'last']
    expect(names.map(peek)).toEqual([null, null, null, null, '1', '1'])
  })

  it('an operation that never ends delays nothing but its batch', async () => {
    const { database, peek } = start()
    const stuck = database.transact({ roots: 'none' }, () => new Promise<void>(() => undefined))
    expect(await stuck.catch((cause: unknown) => cause)).toBeInstanceOf(Error)
    for (const at of [1, 2, 3])
      await database.transact({ roots: 'none' }, (tx) => tx.put('a', String(at)))
    expect(peek('a')).toBe('3')
  })

  it('an operation behind many heavy ones is answered before the second of them commits', async () => {
    const { database, peek } = start()
    const heavy = Array.from({ length: 20 }, (_, at) => writeMany(database, `heavy ${at}`))
    const second = await database
      .transact({ roots: 'none' }, (tx) => tx.put('light', '1'))
      .then(() => peek('heavy 1'))
    expect([peek('light'), second]).toEqual(['1', null])
    await Promise.all(heavy)
    expect(heavy.every((_, at) => peek(`heavy ${at}`) === '1')).toBe(true)
  })
}
