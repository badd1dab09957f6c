import { describe, expect, mock, test } from 'bun:test'
import os from 'node:os'
import { readConfig } from '../../src/app/config.ts'
import { limits } from '../../src/base/limits.ts'
import { createOwnNames } from '../../src/http/own-names.ts'

let hostname = () => 'caja'
let networkInterfaces = os.networkInterfaces
await mock.module('node:os', () => ({
  ...os,
  hostname: () => hostname(),
  networkInterfaces: () => networkInterfaces(),
}))
const { nameLines } = await import('../../src/app/origins.ts')
const { parseRoutes, parseRoutes6, readMachine } = await import('../../src/base/machine.ts')

const at = (address: string) =>
  ({ address, internal: false, netmask: '', mac: '', cidr: null, family: 'IPv4' }) as const
const named = (name: string) => {
  hostname = () => name
  networkInterfaces = () => ({})
  return readMachine().hosts
}

test('the names of a machine are its host name, that with .local, and its addresses', () => {
  hostname = () => 'Caja'
  networkInterfaces = () => ({
    lo: [at('127.0.0.1'), at('::1')],
    eth0: [at('192.168.1.20'), at('203.0.113.7'), at('FD00::20'), at('fe80::1%eth0')],
  })
  expect(readMachine().hosts).toEqual([
    ...['caja', 'caja.local', '192.168.1.20', '203.0.113.7', '[fd00::20]', '[fe80::1]'],
  ])
})

test('a long host name counts whole and by its first label; an invalid one as mDNS writes it', () => {
  expect(named('caja.shop.example')).toEqual(['caja.shop.example', 'caja', 'caja.local'])
  expect(named('Mi Caja')).toEqual(['mi-caja', 'mi-caja.local'])
  expect(named('mi_caja')).toEqual(['mi_caja', 'mi_caja.local', 'mi-caja', 'mi-caja.local'])
})

test('a machine called localhost has no name of its own', () => {
  expect(named('')).toEqual([])
  expect(named('localhost')).toEqual([])
  expect(named('localhost.localdomain')).toEqual([])
})

test('the names count also where a sandbox hides the addresses', () => {
  hostname = () => 'caja'
  networkInterfaces = () => {
    throw new Error('getifaddrs returned an error')
  }
  expect(readMachine().hosts).toEqual(['caja', 'caja.local'])
})

test('default gateways are read from the routes of the system', () => {
  const routes = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
    'tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0',
  ]
  expect(parseRoutes(`${routes.join('\n')}\n`)).toEqual(['172.17.0.1'])
  const zero = '0'.repeat(32)
  const routes6 = [
    `${zero} 00 ${zero} 00 fd000017000000000000000000000001 00000400 00000001 00000000 00000003 eth0`,
    `fd000017000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001 eth0`,
    `${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo`,
  ]
  expect(parseRoutes6(`${routes6.join('\n')}\n`)).toEqual(['fd00:17::1'])
  for (const text of ['', '\n', 'nonsense', '\t\t\t', 'x\t00000000\tzz']) {
    expect([...parseRoutes(text), ...parseRoutes6(text)]).toEqual([])
  }
})

test('a new address is known within seconds, a removed one forgotten within a minute', () => {
  let seconds = 0
  let hosts = ['192.168.1.20']
  let reads = 0
  const names = createOwnNames(
    () => {
      reads++
      return { hosts, container: false, gateways: [] }
    },
    () => seconds * 1000,
  )
  const has = (host: string) => names.has(host, '203.0.113.1')
  expect([has('192.168.1.20'), has('192.168.1.30')]).toEqual([true, false])
  hosts = ['192.168.1.30']
  // Requests of strangers for unknown names do not cause a system call each time.
  for (let turn = 0; turn < 1000; turn++) expect(has(`evil-${turn}.example`)).toBe(false)
  expect(reads).toBe(1)
  expect(has('192.168.1.20')).toBe(true)
  seconds += limits.ownNamesAgainSeconds
  expect([has('192.168.1.30'), has('192.168.1.20')]).toEqual([true, false])
  expect(reads).toBe(2)
  hosts = []
  seconds += limits.ownNamesKeptSeconds
  expect(has('192.168.1.30')).toBe(false)
})

describe('the start block', () => {
  const settings = (env: Record<string, string> = {}) => readConfig(new Map(), env, false).config
  const machine = { hosts: ['caja', '192.168.1.20', '[fe80::1]'], container: false, gateways: [] }
  const url = 'http://0.0.0.0:3000'

  test('lists the addresses that may be signed for, and the setting for others', () => {
    expect(nameLines(settings(), url, machine)).toEqual([
      'caja, 192.168.1.20; for any other: PUBLIC_URL',
    ])
    expect(nameLines(settings(), 'https://192.168.1.20', { ...machine, hosts: [] })).toEqual([
      'none known; for any other: PUBLIC_URL',
    ])
  })

  test('explains in a container that other devices need PUBLIC_URL, with an example', () => {
    const [, line] = nameLines(settings(), url, { ...machine, container: true })
    expect(line).toEndWith(' PUBLIC_URL=http://ADDRESS-OF-ITS-HOST:3000')
  })

  test('omits that where it is configured', () => {
    expect(nameLines(settings({ PUBLIC_URL: 'https://a.example' }), url, machine)).toEqual([])
    expect(nameLines(settings(), 'http://127.0.0.1:3000', machine)).toEqual([])
  })
})
