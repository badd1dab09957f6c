/**
 * `npm run races`: processes that race for one voucher, `--rounds` races in all; `SEED=…` repeats their order. With
 * `--nodes 3` they are 64 callers of three nodes on PostgreSQL; `--without-locks` is the control, which must have problems.
 * With `--postgres` the race matrix of PostgreSQL in place of them; `--only NAME` leaves the pairs with that operation
 * (of races, those whose sentence has it), and `--without-locks` is its control, too. All pairs take an hour or more:
 * `--part 3/24` runs the third of 24 parts. Each is a random sample, by `SEED=…` or else 1, and together they are all
 * pairs. `--sync-ms 2` makes each sync of a file take so much longer (it needs strace), so that those of commits run in
 * another thread.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { controlPath } from '../../src/app/control.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { type Part, runMatrix } from '../postgres/races/whole.ts'
import { runCommand } from '../support/cli.ts'
import { createDefinition, newSigner, openSession } from '../support/client.ts'
import { openNodes, origin, shopEnv } from '../support/nodes.ts'
import { type Databases, openDatabases } from '../support/postgres-databases.ts'
import { main, program } from '../support/program.ts'
import { startRacers } from '../support/race.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { newHolder } from '../support/shops.ts'
import { withSlowSyncs } from '../support/slow-syncs.ts'
import { checkInvariants } from '../support/workload.ts'
import { brokenAnswers } from './races/answers.ts'
import { people } from './races/people.ts'
import type { Facts } from './races/race.ts'
import { vouchers } from './races/vouchers.ts'

/** Every race by the sentence it proves. */
export const races = { ...vouchers, ...people }

/** After so many races the merchant is a new one: lists that are compared stay short. */
const racesOfMerchant = 2 * Object.keys(races).length

/** A service, and the problems that its database has. */
type Service = {
  bases: string[]
  /** The data directories of its nodes. */
  directories: string[]
  check(): Promise<string[]>
  stop(): Promise<string[]>
}

async function openOnFile(syncMs: number): Promise<Service> {
  const env = { ...shopEnv, LOG_LEVEL: 'warn' }
  const server = await startServer({
    ...{ env, ...(syncMs > 0 && { command: withSlowSyncs(program, syncMs) }) },
  })
  return {
    bases: [server.url],
    directories: [server.dataDir],
    check: async () => [],
    async stop() {
      if ((await server.stop()) !== 0) return ['the server did not end well']
      return checkInvariants(join(server.dataDir, 'cuponera.db'))
    },
  }
}

async function openOnPostgres(databases: Databases, count: number, locked: boolean) {
  const url = databases.server.url(await databases.create())
  const unlocked = join(import.meta.dir, '../postgres/races/without-locks.ts')
  const command = [process.execPath, '--preload', unlocked, main]
  const nodes = await openNodes(url, count, locked ? {} : { command })
  const bases = nodes.running()
  const check = async () => {
    const asked = { dataDir: newDirectory(), env: { DATABASE_URL: url } }
    const { code, stdout, stderr } = await runCommand(['check'], asked)
    return code === 0 && stdout.startsWith('no problems') ? [] : [`check: ${stdout}${stderr}`]
  }
  return {
    ...{ bases, check, directories: bases.map(nodes.directoryOf) },
    async stop() {
      const problems = await check()
      await nodes.stop()
      return problems
    },
  }
}

type Asked = {
  rounds: number
  random: Random
  /** Nodes on a server of PostgreSQL. Without them it is one server with a file. */
  nodes?: { databases: Databases; count: number; locked?: boolean }
  processes?: number
  each?: number
  only?: string
  /** On a file: each sync takes so much longer. */
  syncMs?: number
  progress?: (rounds: number, problems: number) => void
}

/** Run so many races; the broken rules. */
export async function runRaces(asked: Asked): Promise<string[]> {
  const { rounds, random, nodes, processes = 4, each = 3, only = '' } = asked
  const service = nodes
    ? await openOnPostgres(nodes.databases, nodes.count, nodes.locked ?? true)
    : await openOnFile(asked.syncMs ?? 0)
  const racers = startRacers(processes)
  const problems: string[] = []
  try {
    const { bases } = service
    const takers: string[] = []
    for (let at = 0; at < processes * each; at++) {
      takers.push(await openSession(bases[at % bases.length] ?? '', newSigner(), origin))
    }
    const chosen = Object.entries(races).filter(([sentence]) => sentence.includes(only))
    const open = () => openShop(service, random, { processes, each, takers })
    let facts = await open()
    for (let round = 0; round < rounds; round++) {
      if (round % racesOfMerchant === racesOfMerchant - 1) {
        problems.push(...(await service.check()))
        facts = await open()
      }
      // Each of them as often as the others, in another order.
      if (round % chosen.length === 0) chosen.sort(() => random.next() - 0.5)
      const [sentence, race] = chosen[round % chosen.length] as (typeof chosen)[number]
      const { send, judge, beside } = await race.prepare(facts)
      const first = random.below(bases.length)
      const lists = Array.from({ length: processes }, (_, process) =>
        Array.from({ length: each }, (_, at) => ({
          ...send(process, at),
          base: bases[(first + process + at) % bases.length] ?? facts.base,
        })),
      )
      const [answered] = await Promise.all([racers.race(facts.base, lists), beside?.()])
      const answers = answered.flat()
      const found = [
        ...(await judge(answers, facts)),
        ...(await brokenAnswers(facts, lists.flat(), answers)),
      ]
      problems.push(...found.map((one) => `${sentence}: ${one}`))
      asked.progress?.(round + 1, problems.length)
    }
  } finally {
    await racers.stop()
    problems.push(...(await service.stop()))
  }
  return problems
}

/** A merchant with a coupon, and names that take vouchers. */
async function openShop(
  { bases, directories }: Service,
  random: Random,
  sizes: Pick<Facts, 'processes' | 'each' | 'takers'>,
): Promise<Facts> {
  const base = random.pick(bases)
  const signer = newSigner()
  const token = await openSession(base, signer, origin)
  const couponId = await createDefinition(base, token)
  const operate = async (command: string, body: unknown) => {
    const unix = controlPath(random.pick(directories))
    const asked = { unix, method: 'POST', body: JSON.stringify(body) }
    const answer = await (await fetch(`http://control/${command}`, asked)).json()
    if ('refused' in answer) throw new Error(`${command}: ${answer.refused}`)
  }
  const holders = Array.from({ length: 4 }, () => newHolder(`p${crypto.randomUUID().slice(0, 12)}`))
  for (const { name, signer } of holders) {
    const { pubkey } = signer
    await operate('identity', { do: 'add', name, pubkey, lud16: null, force: true })
  }
  return { ...sizes, bases, base, signer, token, couponId, holders, operate }
}

/** Throws for what is no part. */
function parsePart(text: string): Part {
  const [part = 0, parts = 0] = text.split('/').map(Number)
  if (!(part >= 1 && part <= parts)) throw new Error(`no part: ${text}. 3/24 is the third of 24`)
  // The same one for all parts.
  return { part, parts, seed: Number(process.env.SEED ?? 1) }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '200' },
      nodes: { type: 'string' },
      postgres: { type: 'boolean', default: false },
      'without-locks': { type: 'boolean', default: false },
      only: { type: 'string' },
      part: { type: 'string', default: '1/1' },
      'sync-ms': { type: 'string', default: '0' },
    },
  })
  const { only } = values
  const locked = !values['without-locks']
  if (values.postgres) {
    const part = parsePart(values.part)
    console.log(`SEED=${part.seed}`)
    const wrong = await runMatrix({ locked, part, ...(only && { only }) })
    process.exit(wrong === 0 ? 0 : 1)
  }
  const seed = chooseSeed()
  console.log(`SEED=${seed}`)
  const rounds = Number(values.rounds)
  const databases = values.nodes && (await openDatabases({ max_connections: '250' }))
  const began = performance.now()
  const problems = await runRaces({
    ...{ rounds, random: new Random(seed), ...(only && { only }) },
    syncMs: Number(values['sync-ms']),
    ...(databases && {
      nodes: { databases, count: Number(values.nodes), locked },
      each: 16,
    }),
    progress: (done, wrong) => process.stderr.write(`\r${done} races, ${wrong} problems`),
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  await cleanUp()
  if (databases) await databases.stop()
  // One of each sort: a broken lock breaks the same rule in most races.
  for (const [, all] of Map.groupBy(problems, (problem) => problem.slice(0, 110))) {
    console.log(`${all.length} × ${all[0]?.slice(0, 500)}`)
  }
  console.log(`${rounds} races in ${seconds} s, ${problems.length} problems`)
  process.exit(problems.length === 0 ? 0 : 1)
}
