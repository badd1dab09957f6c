/** Which devices can open the link of a coupon. */
import { describe, expect, test } from 'bun:test'
import ipaddr from 'ipaddr.js'
import { hostReach, type Reach } from '../../src/ui/browser/host-reach.ts'

const addresses: Record<Reach, string[]> = {
  device: [
    ...['http://localhost:3000', 'http://caja.localhost', 'http://127.0.0.1', 'http://127.9.8.7'],
    ...['http://[::1]:3000', 'http://[::ffff:127.0.0.1]', 'http://2130706433', 'http://LOCALHOST.'],
  ],
  network: [
    ...[
      'http://192.168.1.10:3000',
      'http://10.0.0.1',
      'http://172.16.0.1',
      'http://172.31.255.254',
    ],
    ...['http://169.254.3.4', 'http://100.64.0.1', 'http://100.127.255.254', 'http://[fe80::1]'],
    ...['http://[fd12:3456::1]', 'http://[fc00::1]', 'http://[::ffff:192.168.1.10]', 'http://[::]'],
    ...['http://0x0a000001', 'http://mostrador:3000', 'http://mostrador.local', 'http://m.local.'],
    ...['http://cuponera.lan', 'http://cuponera.home.arpa', 'http://cuponera.internal'],
  ],
  public: [
    ...['https://cupones.example', 'https://local.example', 'https://lan.com', 'http://8.8.8.8'],
    ...['http://172.15.0.1', 'http://172.32.0.1', 'http://100.128.0.1', 'http://11.0.0.1'],
    ...[
      'http://192.169.0.1',
      'http://[2606:4700::1111]',
      'http://[::ffff:8.8.8.8]',
      'https://10.0.0.1.example',
    ],
  ],
}

describe.each(Object.entries(addresses))('%s', (reach, hosts) => {
  test.each(hosts)('%s', (address) => {
    expect<string>(hostReach(new URL(address).hostname)).toBe(reach)
  })
})

test('the ends of every private range are those that the library of the service knows', () => {
  const four = [
    ...['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0', '100.63.255.255', '100.64.0.0'],
    ...['100.127.255.255', '100.128.0.0', '126.255.255.255', '127.0.0.0', '127.255.255.255'],
    ...['128.0.0.0', '169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ...['172.15.255.255', '172.16.0.0', '172.19.9.9', '172.20.0.0', '172.30.1.1', '172.31.255.255'],
    ...[
      '172.32.0.0',
      '192.167.255.255',
      '192.168.0.0',
      '192.168.255.255',
      '192.169.0.0',
      '1.0.0.1',
    ],
    ...['100.7.0.1', '17.2.16.1', '110.0.0.1', '0.0.0.0'],
  ]
  // Between them the library calls addresses public that nobody has (RFC 4291).
  const six = [
    ...['::', '::1', 'fc00::', 'fdff:ffff::1', 'fe80::', 'febf:ffff::1', '2600::1'],
    ...four.map((address) => `::ffff:${address}`),
  ]
  const reachOf = (range: string): Reach => {
    return range === 'loopback' ? 'device' : range === 'unicast' ? 'public' : 'network'
  }
  for (const host of [...four, ...six.map((address) => `[${address}]`)]) {
    const range = ipaddr.process(host.replace(/[[\]]/g, '')).range()
    expect([host, hostReach(new URL(`http://${host}`).hostname)]).toEqual([host, reachOf(range)])
  }
})
