/** The unit of docs/operations.md, as printed, and all units under the eyes of `systemd-analyze`. */
import { afterEach, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npubOf } from '../../src/nostr/keys.ts'
import { runCommand } from '../support/cli.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { blockWith, readText } from '../support/printed.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { openUnit, parseUnit } from '../support/units.ts'

const printed = blockWith('docs/operations.md', '[Service]')
const publicUrl = 'https://cupones.example'
const opened = new Set<ReturnType<typeof openUnit>>()

afterEach(async () => {
  for (const unit of opened) await unit.end()
  opened.clear()
  await cleanUp()
})

test('the unit starts the service with its settings, again after a crash, and stops it', async () => {
  const merchant = newSigner()
  const unit = openUnit(printed.replace('npub1…', npubOf(merchant.pubkey)))
  opened.add(unit)
  const state = join(unit.machine, 'var/lib/cuponera')
  expect(statSync(state).mode & 0o777).toBe(0o700)
  const url = await unit.start()
  const token = await openSession(url, merchant, publicUrl)
  const { nonce } = await mintOne(url, token, await createDefinition(url, token))
  const theirs = await openSession(url, newSigner(), publicUrl)
  const body = { name: 'Café', benefit: { type: 'percent', percent: 10 } }
  expect(await call(url, '/api/coupons', { token: theirs, body })).toMatchObject({ status: 403 })
  const forwarded = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' }
  const proxied = await call(url, '/readyz', { headers: forwarded })
  expect(proxied).toMatchObject({ status: 200 })
  expect(proxied.headers.has('Strict-Transport-Security')).toBe(true)
  expect(unit.env.DATA_DIR).toBe(state)
  expect(await runCommand(['check'], { dataDir: state })).toMatchObject({ code: 0 })

  const died = unit.pid()
  const again = await unit.kill()
  expect(unit.pid()).not.toBe(died)
  const claimed = await call(again, '/api/coupons/claim', { body: { nonce } })
  expect(claimed).toMatchObject({ status: 200 })
  expect(await unit.stop()).toBe(0)
})

test('a directive that is unknown, or has another form, is not passed over', () => {
  expect(parseUnit(printed).one('Restart')).toBe('on-failure')
  for (const [right, wrong] of [
    ['TimeoutStopSec', 'TimeoutStpSec'],
    ['Restart=on-failure', 'Restart=on-failur'],
    ['[Service]', '[Servce]'],
  ] as const) {
    expect(() => parseUnit(printed.replace(right, wrong))).toThrow(wrong.replace(/[[\]]/g, ''))
  }
})

/** Lines of `systemd-analyze verify` on a unit, with a command that exists. Null where it has none of its tools. */
function verified(name: string, text: string): string | null {
  const folder = newDirectory()
  const path = join(folder, name)
  writeFileSync(path, text.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/sh'))
  const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], {
    encoding: 'utf8',
  })
  if (error) return null
  const said = stderr.split('\n').filter((line) => line.includes(name))
  return status === 0 ? said.join('\n') : `ended with ${status}: ${stderr}`
}

const simplest = '[Service]\nExecStart=/bin/sh\n'
const hasSystemd = verified('simplest.service', simplest) === ''
if (!hasSystemd) console.log('left out: units before systemd-analyze (it is not installed)')

test('systemd takes each unit, and says what is wrong with another one', () => {
  if (!hasSystemd) return
  const units = {
    'cuponera.service': printed,
    'node.service': readText('docs/cluster/cuponera.service'),
    'patroni.service': readText('docs/cluster/patroni.service'),
  }
  for (const [name, text] of Object.entries(units)) {
    expect({ name, said: verified(name, text) }).toEqual({ name, said: '' })
  }
  const wrong = printed.replace('TimeoutStopSec=', 'TimeoutStpSec=')
  expect(verified('wrong.service', wrong)).toMatch(/Unknown key (name )?'TimeoutStpSec'/)
})
