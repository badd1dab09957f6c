import { describe, expect, test } from 'bun:test'
import { type Network, parseNetwork } from '../../src/base/network.ts'
import { createOrigins } from '../../src/http/origin.ts'

const networks = (...texts: string[]) => texts.map((text) => parseNetwork(text) as Network)
const open = createOrigins({ publicOrigins: [], trustedProxies: [] })
const behind = createOrigins({
  publicOrigins: [],
  trustedProxies: networks('10.0.0.0/8', '127.0.0.1', 'fd00::/8'),
})
const listed = createOrigins({
  publicOrigins: ['https://cupones.example', 'https://otra.example:8443'],
  trustedProxies: networks('10.0.0.0/8'),
})

const request = (headers: Record<string, string>) => new Request('http://x/', { headers })

describe('the origins a signature may name, from the Host header', () => {
  const hosts: [host: string, origins: string[]][] = [
    ['localhost', ['http://localhost']],
    ['LocalHost:3000', ['http://localhost:3000']],
    ['localhost:80', ['http://localhost']],
    ['shop.localhost', ['http://shop.localhost']],
    ['127.0.0.1:3000', ['http://127.0.0.1:3000']],
    ['192.168.1.20', ['http://192.168.1.20']],
    ['8.8.8.8', ['http://8.8.8.8']],
    ['[::1]:3000', ['http://[::1]:3000']],
    ['[FE80::1]', ['http://[fe80::1]']],
    ['caja', ['http://caja']],
    ['caja:8080', ['http://caja:8080']],
    ['caja.local', ['http://caja.local']],
    ['una.caja.local:1', ['http://una.caja.local:1']],
    ['cupones.example', []],
    ['local', ['http://local']],
    ['local.example', []],
    ['localhost.example', []],
    ['127.0.0.1.example', []],
    ['caja.local.example', []],
    ['caja.locale', []],
    ['caja.', []],
    ['cupones.example:80', []],
    ['', []],
    ['a b', []],
    ['[::1', []],
    ['localhost:99999', []],
  ]
  for (const [host, origins] of hosts) {
    test(`"${host}" gives ${origins.join() || 'none'}`, () => {
      expect([...open.accepted(request({ host }), '203.0.113.1')]).toEqual(origins)
    })
  }
})

describe('forwarded headers', () => {
  const forwarded = {
    host: 'localhost',
    'x-forwarded-host': 'caja.local',
    'x-forwarded-proto': 'https',
  }

  test('count from a declared proxy, however its address is written', () => {
    for (const peer of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd00::1']) {
      expect([...behind.accepted(request(forwarded), peer)]).toEqual(['https://caja.local'])
    }
  })

  test('do not count from anybody else', () => {
    for (const peer of ['11.1.2.3', '::1', 'fe80::1', '', 'unix']) {
      expect([...behind.accepted(request(forwarded), peer)]).toEqual(['http://localhost'])
      expect(behind.undeclaredProxy(request(forwarded), peer)).toBe(true)
    }
    expect(behind.undeclaredProxy(request(forwarded), '10.1.2.3')).toBe(false)
    expect(behind.undeclaredProxy(request({ host: 'localhost' }), '11.1.2.3')).toBe(false)
    expect(open.undeclaredProxy(request({ 'x-forwarded-for': '1.2.3.4' }), '10.1.2.3')).toBe(true)
  })

  test('name no public host without PUBLIC_URL either', () => {
    const headers = { host: 'localhost', 'x-forwarded-host': 'cupones.example' }
    expect([...behind.accepted(request(headers), '10.0.0.1')]).toEqual([])
  })
})

test('with PUBLIC_URL its origins count and nothing else', () => {
  for (const headers of [
    { host: 'localhost' },
    { host: 'evil.example' },
    { host: 'x', 'x-forwarded-host': 'caja.local' },
  ]) {
    expect([...listed.accepted(request(headers), '10.0.0.1')]).toEqual([
      'https://cupones.example',
      'https://otra.example:8443',
    ])
  }
})

describe('browsers are told to use https alone', () => {
  const at = (
    url: string,
    headers: Record<string, string>,
    peer = '203.0.113.1',
    origins = listed,
  ) => origins.strict(new Request(url, { headers }), peer)
  const host = 'cupones.example'
  const proxied = { host, 'x-forwarded-proto': 'https' }

  test('for a public name that was asked over https, here or at a declared proxy', () => {
    expect(at('https://x/', { host })).toBe(true)
    expect(at('https://x/', { host: 'Otra.example:8443' })).toBe(true)
    expect(at('http://x/', proxied, '10.0.0.1')).toBe(true)
    const forwarded = { ...proxied, host: '127.0.0.1:3000', 'x-forwarded-host': host }
    expect(at('http://x/', forwarded, '10.0.0.1')).toBe(true)
    // Not passed on: what the browser asked is a public name all the same.
    expect(at('http://x/', { ...proxied, host: '127.0.0.1:3000' }, '10.0.0.1')).toBe(true)
  })

  test('not over plain http, and not for a name of the local network', () => {
    expect(at('http://x/', { host })).toBe(false)
    expect(at('http://x/', proxied)).toBe(false)
    for (const local of ['caja.local', 'caja', 'localhost', 'evil.example', '']) {
      expect(at('https://x/', { host: local })).toBe(false)
    }
  })

  test('not without PUBLIC_URL, nor with plain http in it', () => {
    const mixed = createOrigins({
      publicOrigins: ['https://cupones.example', 'http://192.168.1.20:3000'],
      trustedProxies: [],
    })
    expect(at('https://x/', { host }, '203.0.113.1', mixed)).toBe(false)
    expect(at('https://x/', { host: 'caja.local' }, '203.0.113.1', open)).toBe(false)
  })
})

describe('the address that limits are counted by', () => {
  const from = (peer: string, hops?: string) =>
    behind.client(request(hops === undefined ? {} : { 'x-forwarded-for': hops }), peer)

  test('is that of the peer, unless the peer is a declared proxy', () => {
    expect(from('203.0.113.1')).toBe('203.0.113.1')
    expect(from('203.0.113.1', '198.51.100.1')).toBe('203.0.113.1')
    expect(from('10.0.0.1')).toBe('10.0.0.1')
    expect(from('10.0.0.1', '198.51.100.1')).toBe('198.51.100.1')
    expect(from('::ffff:10.0.0.1', ' 198.51.100.1 ')).toBe('198.51.100.1')
  })

  test('is the last that a trusted proxy vouches for', () => {
    expect(from('10.0.0.1', '1.1.1.1, 2.2.2.2')).toBe('2.2.2.2')
    expect(from('10.0.0.1', '1.1.1.1, 2.2.2.2, 10.0.0.2, 10.0.0.3')).toBe('2.2.2.2')
    expect(from('10.0.0.1', '10.0.0.2')).toBe('10.0.0.2')
    expect(from('10.0.0.1', '2.2.2.2, nonsense')).toBe('10.0.0.1')
    expect(from('10.0.0.1', 'nonsense, 10.0.0.2')).toBe('10.0.0.2')
    expect(from('10.0.0.1', '')).toBe('10.0.0.1')
    expect(from('10.0.0.1', ','.repeat(5000))).toBe('10.0.0.1')
  })

  test('is one for a /64 of IPv6, and the IPv4 address of one that is mapped', () => {
    expect(from('2001:db8:1:2::1')).toBe(from('2001:DB8:1:2:ffff:ffff:ffff:ffff'))
    expect(from('2001:db8:1:2::1')).not.toBe(from('2001:db8:1:3::1'))
    expect(from('2001:db8:1:2::1')).not.toBe(from('2001:db8::1'))
    expect(from('::ffff:203.0.113.1')).toBe(from('203.0.113.1'))
  })

  test('is the same for whatever is no address', () => {
    expect(from('')).toBe(from('unix'))
  })
})
