import { describe, expect, test } from 'bun:test'
import { type Network, parseNetwork } from '../../src/base/network.ts'
import { createOrigins, type Origins } from '../../src/http/origin.ts'
import { createOwnNames } from '../../src/http/own-names.ts'

const networks = (...texts: string[]) => texts.map((text) => parseNetwork(text) as Network)
const ownNames = createOwnNames(
  () => ({
    hosts: ['192.168.1.20', '[fd00::20]', 'caja', 'caja.local'],
    container: true,
    gateways: ['172.17.0.1', 'fd00:17::1'],
  }),
  () => 0,
)
const open = createOrigins({ publicOrigins: [], trustedProxies: [], ownNames })
const behind = createOrigins({
  publicOrigins: [],
  trustedProxies: networks('10.0.0.0/8', '127.0.0.1', 'fd00::/8'),
  ownNames,
})
const listed = createOrigins({
  publicOrigins: ['https://cupones.example', 'https://otra.example:8443'],
  trustedProxies: networks('10.0.0.0/8'),
  ownNames,
})

const request = (headers: Record<string, string>) => new Request('http://x/', { headers })

describe('the origins a signature may name, from the Host header', () => {
  const hosts: [host: string, origins: string[]][] = [
    ['192.168.1.20', ['http://192.168.1.20']],
    ['192.168.1.20:3000', ['http://192.168.1.20:3000']],
    ['[FD00::20]:3000', ['http://[fd00::20]:3000']],
    ['caja', ['http://caja']],
    ['Caja:8080', ['http://caja:8080']],
    ['caja.local:80', ['http://caja.local']],
    // Hosts of another machine, or of anybody.
    ['192.168.1.21', []],
    ['8.8.8.8', []],
    ['[fe80::1]', []],
    ['0.0.0.0:3000', []],
    ['otra', []],
    ['otra.local', []],
    ['una.caja.local', []],
    ['local', []],
    ['shop.localhost', []],
    ['cupones.example', []],
    ['caja.example', []],
    ['192.168.1.20.example', []],
    ['caja.', []],
    ['', []],
    ['a b', []],
    ['[::1', []],
    ['caja:99999', []],
  ]
  for (const [host, origins] of hosts) {
    test(`"${host}" gives ${origins.join() || 'none'}`, () => {
      for (const peer of ['203.0.113.1', '127.0.0.1', '172.17.0.1']) {
        expect([...open.accepted(request({ host }), peer)]).toEqual(origins)
      }
    })
  }

  for (const [host, origin] of [
    ['LocalHost:3000', 'http://localhost:3000'],
    ['localhost:80', 'http://localhost'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['127.1', 'http://127.0.0.1'],
    ['[::1]:3000', 'http://[::1]:3000'],
  ] as const) {
    test(`"${host}" is this machine for its own clients and for the host of its container`, () => {
      for (const peer of ['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1', '172.17.0.1']) {
        expect([...open.accepted(request({ host }), peer)]).toEqual([origin])
      }
      expect([...open.accepted(request({ host }), 'fd00:17::1')]).toEqual([origin])
      for (const peer of ['192.168.1.20', '172.17.0.2', '203.0.113.1', '', 'unix']) {
        expect([...open.accepted(request({ host }), peer)]).toEqual([])
      }
    })
  }
})

test('a signature to the relay may name this machine and the public origins', () => {
  const relay = (origins: Origins, host: string, peer: string) => [
    ...origins.acceptedForSockets(request({ host }), peer),
  ]
  const published = ['https://cupones.example', 'https://otra.example:8443']
  expect(relay(listed, 'localhost:3000', '127.0.0.1')).toEqual([
    ...published,
    'http://localhost:3000',
  ])
  expect(relay(listed, 'localhost:3000', '203.0.113.1')).toEqual(published)
  expect(relay(listed, 'evil.example', '127.0.0.1')).toEqual(published)
  expect(relay(listed, 'caja.local', '127.0.0.1')).toEqual(published)
})

test('the requested origin is shown only if it is a plain host and port', () => {
  const asked = (host: string) => open.asked(request({ host }), '203.0.113.1')
  expect(asked('192.168.1.10:3000')).toBe('http://192.168.1.10:3000')
  expect(asked('Tienda.example:80')).toBe('http://tienda.example')
  expect(asked('[2001:DB8::1]:3000')).toBe('http://[2001:db8::1]:3000')
  expect(asked('ñandú.example')).toBe('http://xn--and-6ma2c.example')
  for (const host of [
    '',
    'a b',
    'x/../y',
    'user:pass@evil.example',
    'evil.example"><b>',
    "evil.example';rm",
    'a_b',
    `${'a'.repeat(60)}.`.repeat(5),
  ]) {
    expect({ host, asked: asked(host)?.match(/[^a-z0-9.:/[\]-]/) ?? null }).toEqual({
      host,
      asked: null,
    })
    expect(asked(host)?.length ?? 0).toBeLessThanOrEqual(280)
  }
  const forwarded = { 'x-forwarded-host': 'tienda.example', 'x-forwarded-proto': 'https' }
  expect(behind.asked(request(forwarded), '10.0.0.1')).toBe('https://tienda.example')
  expect(behind.asked(request({ ...forwarded, 'x-forwarded-proto': 'x' }), '10.0.0.1')).toBeNull()
})

describe('forwarded headers', () => {
  const forwarded = {
    host: 'localhost',
    'x-forwarded-host': 'caja.local',
    'x-forwarded-proto': 'https',
  }

  test('count from a declared proxy, in any notation of its address', () => {
    for (const peer of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd00::1']) {
      expect([...behind.accepted(request(forwarded), peer)]).toEqual(['https://caja.local'])
    }
  })

  test('do not count from any other address', () => {
    for (const peer of ['11.1.2.3', '::1', 'fe80::1', '', 'unix']) {
      const origins = peer === '::1' ? ['http://localhost'] : []
      expect([...behind.accepted(request(forwarded), peer)]).toEqual(origins)
      expect(behind.undeclaredProxy(request(forwarded), peer)).toBe(true)
    }
    expect(behind.undeclaredProxy(request(forwarded), '10.1.2.3')).toBe(false)
    expect(behind.undeclaredProxy(request({ host: 'localhost' }), '11.1.2.3')).toBe(false)
    expect(open.undeclaredProxy(request({ 'x-forwarded-for': '1.2.3.4' }), '10.1.2.3')).toBe(true)
  })

  test('do not add a public host without PUBLIC_URL', () => {
    const headers = { host: 'localhost', 'x-forwarded-host': 'cupones.example' }
    expect([...behind.accepted(request(headers), '10.0.0.1')]).toEqual([])
  })
})

test('with PUBLIC_URL only its origins count', () => {
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

describe('the header that demands https (HSTS) is sent', () => {
  const at = (
    url: string,
    headers: Record<string, string>,
    peer = '203.0.113.1',
    origins = listed,
  ) => origins.strict(new Request(url, { headers }), peer)
  const host = 'cupones.example'
  const proxied = { host, 'x-forwarded-proto': 'https' }

  test('for a public name over https, here or at a declared proxy', () => {
    expect(at('https://x/', { host })).toBe(true)
    expect(at('https://x/', { host: 'Otra.example:8443' })).toBe(true)
    expect(at('http://x/', proxied, '10.0.0.1')).toBe(true)
    const forwarded = { ...proxied, host: '127.0.0.1:3000', 'x-forwarded-host': host }
    expect(at('http://x/', forwarded, '10.0.0.1')).toBe(true)
    // Without forwarded headers the browser still requested a public name.
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
      ownNames,
    })
    expect(at('https://x/', { host }, '203.0.113.1', mixed)).toBe(false)
    expect(at('https://x/', { host: 'caja.local' }, '203.0.113.1', open)).toBe(false)
  })
})

describe('the client address for limits', () => {
  const from = (peer: string, hops?: string) =>
    behind.client(request(hops === undefined ? {} : { 'x-forwarded-for': hops }), peer)

  test('is the peer, unless the peer is a declared proxy', () => {
    expect(from('203.0.113.1')).toBe('203.0.113.1')
    expect(from('203.0.113.1', '198.51.100.1')).toBe('203.0.113.1')
    expect(from('10.0.0.1')).toBe('10.0.0.1')
    expect(from('10.0.0.1', '198.51.100.1')).toBe('198.51.100.1')
    expect(from('::ffff:10.0.0.1', ' 198.51.100.1 ')).toBe('198.51.100.1')
  })

  test('is the last entry that a trusted proxy vouches for', () => {
    expect(from('10.0.0.1', '1.1.1.1, 2.2.2.2')).toBe('2.2.2.2')
    expect(from('10.0.0.1', '1.1.1.1, 2.2.2.2, 10.0.0.2, 10.0.0.3')).toBe('2.2.2.2')
    expect(from('10.0.0.1', '10.0.0.2')).toBe('10.0.0.2')
    expect(from('10.0.0.1', '2.2.2.2, nonsense')).toBe('10.0.0.1')
    expect(from('10.0.0.1', 'nonsense, 10.0.0.2')).toBe('10.0.0.2')
    expect(from('10.0.0.1', '')).toBe('10.0.0.1')
    expect(from('10.0.0.1', ','.repeat(5000))).toBe('10.0.0.1')
  })

  test('is the /64 of an IPv6 address, and the IPv4 address of a mapped one', () => {
    expect(from('2001:db8:1:2::1')).toBe(from('2001:DB8:1:2:ffff:ffff:ffff:ffff'))
    expect(from('2001:db8:1:2::1')).not.toBe(from('2001:db8:1:3::1'))
    expect(from('2001:db8:1:2::1')).not.toBe(from('2001:db8::1'))
    expect(from('::ffff:203.0.113.1')).toBe(from('203.0.113.1'))
  })

  test('is the same for all invalid addresses', () => {
    expect(from('')).toBe(from('unix'))
  })
})
