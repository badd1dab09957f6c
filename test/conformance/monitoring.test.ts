/** The page on monitoring and its alert rules against the metrics of a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { createPopulated, runCommand } from '../support/cli.ts'
import { call } from '../support/client.ts'
import { describeFile, onFile } from '../support/database.ts'
import { metricsOf, namesIn, readText, root } from '../support/printed.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const docs = join(root, 'docs')
const page = readText('docs/monitoring.md')

const everywhere = namesIn(page, 'metric')
const onNodes = namesIn(readText('docs/cluster.md'), 'metric')

let live: Map<string, string>
beforeAll(async () => {
  live = await metricsOf((await startServer()).url)
})
afterAll(cleanUp)

test('the pages list every metric of a server, and no other', () => {
  expect(everywhere.length).toBeGreaterThan(20)
  expect(onNodes.length).toBeGreaterThan(5)
  const listed = onFile
    ? everywhere
    : [...everywhere.filter((name) => name !== 'cuponera_backup_age_seconds'), ...onNodes]
  expect([...live.keys()].toSorted()).toEqual(listed.toSorted())
})

test('a duration is no Unix time: only the start of the process is one', async () => {
  const { text } = await call((await startServer()).url, '/metrics')
  const times = [...text.matchAll(/^(\w+_seconds)(?:\{[^}]*\})? (\S+)$/gm)].filter(
    ([, , value]) => Number(value) > 1e9 && Number.isFinite(Number(value)),
  )
  expect(times.map(([, name]) => name)).toEqual(['process_start_time_seconds'])
  expect(Math.abs(Number(times[0]?.[2]) - Date.now() / 1000)).toBeLessThan(600)
})

describe('the alert rules', () => {
  type Rule = {
    alert: string
    expr: string
    for?: string
    labels: Record<string, string>
    annotations: Record<string, string>
  }
  const text = readFileSync(join(docs, 'monitoring/alerts.yml'), 'utf8')
  const { groups } = Bun.YAML.parse(text) as { groups: { name: string; rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  test('have the keys of Prometheus, each with its type', () => {
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length)
    for (const rule of rules) {
      expect(rule).toEqual({
        alert: expect.stringMatching(/^Cuponera[A-Z]\w+$/),
        expr: expect.any(String),
        ...(rule.for !== undefined && { for: expect.stringMatching(/^\d+[smhd]$/) }),
        labels: { severity: expect.stringMatching(/^(page|ticket)$/) },
        annotations: { summary: expect.stringMatching(/^\S.*\S$/) },
      })
    }
    expect(namesIn(page, 'alert')).toEqual(rules.map(({ alert }) => alert))
  })

  test('use metrics that exist, counters by their increase', () => {
    const known = new Set([...everywhere, ...onNodes])
    for (const { alert, expr } of rules) {
      const named = [...expr.matchAll(/\b(?:cuponera|process)_\w+/g)].map(([name]) => name)
      const metrics = named.map((name) => name.replace(/_bucket$/, ''))
      expect({ alert, unknown: metrics.filter((name) => !known.has(name)) }).toEqual({
        alert,
        unknown: [],
      })
      if (alert !== 'CuponeraDown') expect(metrics).not.toEqual([])
      for (const name of named.filter((one) => /_(total|bucket)$/.test(one))) {
        expect(expr).toMatch(new RegExp(`(rate|increase)\\(${name}`))
      }
      for (const name of named.filter((one) => one.endsWith('_bucket'))) {
        expect(live.get(name.replace(/_bucket$/, ''))).toBe('histogram')
      }
    }
  })

  test('name labels that their metrics have', () => {
    const routes = rules.flatMap(({ expr }) => [...expr.matchAll(/route="([^"]+)"/g)])
    expect(routes.map(([, route]) => route)).toEqual(['/api/coupons/claim'])
    expect(readFileSync(join(docs, 'api/vouchers.md'), 'utf8')).toContain('POST /api/coupons/claim')
  })
})

describeFile('the age of the last backup', () => {
  const ageOf = async (url: string) =>
    Number(/^cuponera_backup_age_seconds (\S+)$/m.exec((await call(url, '/metrics')).text)?.[1])
  const backUp = async (dataDir: string, env = {}) => {
    const run = await runCommand(['backup', join(newDirectory(), 'copy.db')], { dataDir, env })
    expect(run.code).toBe(0)
  }

  test('is infinite until there is one, which a running server or the command alone writes', async () => {
    const { dataDir } = await createPopulated()
    const first = await startServer({ dataDir })
    // Prometheus writes +Inf, and every age compares as less.
    expect((await call(first.url, '/metrics')).text).toContain(
      '\ncuponera_backup_age_seconds +Inf\n',
    )
    await backUp(dataDir)
    expect(await ageOf(first.url)).toBeLessThan(600)
    await first.stop()

    const anHourAgo = new Date(Date.now() - 3_600_000)
    utimesSync(join(dataDir, 'backed-up'), anHourAgo, anHourAgo)
    const second = await startServer({ dataDir })
    // The clock of a file may be a tick behind.
    expect(await ageOf(second.url)).toBeGreaterThan(3500)
    await second.stop()
    await backUp(dataDir)
    const third = await startServer({ dataDir })
    expect(await ageOf(third.url)).toBeLessThan(600)
  })
})
