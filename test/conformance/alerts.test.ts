/** The alert rules and the scrape job of docs/monitoring.md, as promtool of Prometheus takes them. */
import { afterAll, expect, test } from 'bun:test'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../support/foreign-programs.ts'
import { blockWith, namesIn, readText, root } from '../support/printed.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const rules = join(root, 'docs/monitoring/alerts.yml')
const promtool = findProgram('promtool', 'alert rules')

afterAll(cleanUp)

function run(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? '', ...args])
  const said = stdout.toString()
  expect({ exitCode, said, errors: stderr.toString() }).toEqual({ exitCode: 0, said, errors: '' })
  return said
}

test('Prometheus takes the printed scrape job with the rules', () => {
  if (promtool === null) return
  const folder = newDirectory()
  cpSync(rules, join(folder, 'alerts.yml'))
  writeFileSync(join(folder, 'cuponera.token'), 'a'.repeat(48))
  const config = blockWith('docs/monitoring.md', 'scrape_configs')
  const path = join(folder, 'prometheus.yml')
  writeFileSync(path, config.replaceAll('/etc/prometheus', folder))
  expect(run('check', 'config', path)).toContain(`SUCCESS: ${alarms.length} rules found`)
})

/** The labels of a metric of one server, and of one that is summed over all else. */
const one = { job: 'cuponera', instance: 'a:3000' }
const alone = { instance: 'a:3000' }
const relay = { ...one, relay: 'wss://a.example' }
const transfer = { ...one, service: 'npub1a' }
const claim = { ...one, route: '/api/coupons/claim' }

type Alarm = {
  alert: string
  /** Metric, labels and values, one a minute: those of a service that is well, then of one that is not. */
  series: [metric: string, labels: Record<string, string>, well: string, ill: string][]
  /** The minute in which it does not fire yet, and a later one in which it does. */
  minutes: [quiet: number, fires: number]
  labels: Record<string, string>
  /** The value as its words have it. */
  value?: string
}

const minutesInAll = 70
const always = (value: number | string) => `${value}x${minutesInAll}`
const rising = (step: number) => `0+${step}x${minutesInAll}`

const alarms: Alarm[] = [
  {
    alert: 'CuponeraDown',
    series: [['up', one, always(1), always(0)]],
    minutes: [1, 3],
    labels: one,
  },
  {
    alert: 'CuponeraCommitsFail',
    series: [['cuponera_commit_failures_total', one, always(7), `0 0 0 1x${minutesInAll}`]],
    minutes: [2, 4],
    labels: one,
  },
  {
    alert: 'CuponeraUnavailable',
    series: [
      ['cuponera_http_requests_total', { ...one, status: '503' }, always(50), rising(10)],
      ['cuponera_http_requests_total', { ...one, status: '404' }, rising(100), rising(100)],
    ],
    minutes: [4, 12],
    labels: alone,
  },
  {
    alert: 'CuponeraClaimsSlow',
    series: [
      ['cuponera_http_request_seconds_bucket', { ...claim, le: '1' }, rising(60), rising(50)],
      ['cuponera_http_request_seconds_bucket', { ...claim, le: '2.5' }, rising(60), rising(60)],
      ['cuponera_http_request_seconds_bucket', { ...claim, le: '+Inf' }, rising(60), rising(60)],
    ],
    minutes: [4, 12],
    labels: alone,
  },
  {
    alert: 'CuponeraStalls',
    series: [['cuponera_loop_stall_max_seconds', one, always(0.9), always(1.5)]],
    minutes: [4, 6],
    labels: one,
    value: '1.5s',
  },
  {
    alert: 'CuponeraDamaged',
    series: [['cuponera_check_problems', one, always(-1), `0 0 ${always(3)}`]],
    minutes: [1, 3],
    labels: one,
  },
  {
    alert: 'CuponeraDiskLow',
    series: [['cuponera_disk_low', one, always(0), `0 0 ${always(1)}`]],
    minutes: [1, 3],
    labels: one,
  },
  {
    alert: 'CuponeraBackupOld',
    series: [['cuponera_backup_age_seconds', one, always(90_000), always(180_000)]],
    minutes: [59, 61],
    labels: one,
  },
  {
    alert: 'CuponeraRestarts',
    series: [['process_start_time_seconds', one, '1 1 2 2 3 3 4 4 4 4 4 4', '1 2 3 4 5 5 5']],
    minutes: [3, 5],
    labels: one,
  },
  {
    alert: 'CuponeraRelayAway',
    series: [
      ['cuponera_relay_connected', relay, always(0), always(0)],
      ['cuponera_relay_pending', relay, always(0), always(5)],
    ],
    minutes: [59, 61],
    labels: relay,
  },
  {
    alert: 'CuponeraTransfersWait',
    series: [['cuponera_transfers_oldest_age_seconds', transfer, always(60), always(4000)]],
    minutes: [9, 11],
    labels: transfer,
  },
  {
    alert: 'CuponeraNoLeader',
    series: [
      ['cuponera_is_leader', one, always(0), always(0)],
      ['cuponera_is_leader', { ...one, instance: 'b:3000' }, always(1), always(0)],
    ],
    minutes: [0, 2],
    labels: { job: 'cuponera' },
  },
  {
    alert: 'CuponeraStandbyLost',
    series: [['cuponera_database_standby_lost', one, always(0), `0 0 ${always(1)}`]],
    minutes: [1, 3],
    labels: one,
  },
  {
    alert: 'CuponeraDatabaseClock',
    series: [['cuponera_database_clock_ahead_seconds', one, always(1), always(-3)]],
    minutes: [4, 6],
    labels: one,
    value: '3s',
  },
]

const { groups } = Bun.YAML.parse(readText('docs/monitoring/alerts.yml')) as {
  groups: { rules: { alert: string; labels: object; annotations: { summary: string } }[] }[]
}
const written = groups.flatMap((group) => group.rules)

/** The alarm as Prometheus sends it: the words of the rule, with labels and value in them. */
function sent({ alert, labels, value }: Alarm) {
  const rule = written.find((each) => each.alert === alert)
  const summary = rule?.annotations.summary
    .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name as keyof typeof labels] ?? '?')
    .replace('{{ $value | humanizeDuration }}', value ?? '?')
  return { exp_labels: { ...rule?.labels, ...labels }, exp_annotations: { summary } }
}

const seriesOf = ({ series }: Alarm, state: 'well' | 'ill') =>
  series.map(([metric, labels, well, ill]) => {
    const inside = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
    return { series: `${metric}{${inside.join(',')}}`, values: state === 'well' ? well : ill }
  })

test('each alert fires on its state, with its words, and none on a service that is well', () => {
  expect(namesIn(readText('docs/monitoring.md'), 'alert')).toEqual(alarms.map(({ alert }) => alert))
  if (promtool === null) return
  const interval = '1m'
  const ill = alarms.map((alarm) => {
    const { alert, minutes } = alarm
    const [quiet, fires] = minutes.map((minute) => `${minute}m`)
    const checks = [
      { eval_time: quiet, alertname: alert, exp_alerts: [] },
      { eval_time: fires, alertname: alert, exp_alerts: [sent(alarm)] },
    ]
    return { interval, input_series: seriesOf(alarm, 'ill'), alert_rule_test: checks }
  })
  const well = {
    interval,
    input_series: alarms.flatMap((alarm) => seriesOf(alarm, 'well')),
    alert_rule_test: alarms.map(({ alert, minutes: [, fires] }) => {
      return { eval_time: `${fires}m`, alertname: alert, exp_alerts: [] }
    }),
  }
  const tests = [...ill, well]
  const path = join(newDirectory(), 'tests.yml')
  writeFileSync(path, JSON.stringify({ rule_files: [rules], evaluation_interval: interval, tests }))
  expect(run('test', 'rules', path)).toContain('SUCCESS')
})
