import { describe, expect, test } from 'bun:test'
import { loopbackAddress, publicAddress } from '../../src/outbound/address.ts'

/** Every refused range with its neighbours: `before` and `after` are the addresses that adjoin it. */
type Range = {
  what: string
  first: string
  last: string
  inside?: string[]
  /** Public neighbours; left out where the neighbour is itself refused. */
  before?: string
  after?: string
}

const ipv4Ranges: Range[] = [
  {
    what: 'this network',
    first: '0.0.0.0',
    last: '0.255.255.255',
    inside: ['0.0.0.1', '0.1.2.3'],
    after: '1.0.0.0',
  },
  {
    what: 'private 10/8',
    first: '10.0.0.0',
    last: '10.255.255.255',
    inside: ['10.0.0.1', '10.96.0.1'],
    before: '9.255.255.255',
    after: '11.0.0.0',
  },
  {
    what: 'shared (CGNAT)',
    first: '100.64.0.0',
    last: '100.127.255.255',
    inside: ['100.100.100.100', '100.100.100.200'],
    before: '100.63.255.255',
    after: '100.128.0.0',
  },
  {
    what: 'loopback',
    first: '127.0.0.0',
    last: '127.255.255.255',
    inside: ['127.0.0.1', '127.0.0.53', '127.0.1.1', '127.1.1.1'],
    before: '126.255.255.255',
    after: '128.0.0.0',
  },
  {
    what: 'link-local',
    first: '169.254.0.0',
    last: '169.254.255.255',
    inside: ['169.254.169.254', '169.254.170.2'],
    before: '169.253.255.255',
    after: '169.255.0.0',
  },
  {
    what: 'private 172.16/12',
    first: '172.16.0.0',
    last: '172.31.255.255',
    inside: ['172.17.0.1', '172.20.0.5'],
    before: '172.15.255.255',
    after: '172.32.0.0',
  },
  {
    what: 'IETF assignments',
    first: '192.0.0.0',
    last: '192.0.0.255',
    inside: ['192.0.0.8', '192.0.0.170', '192.0.0.192'],
    before: '191.255.255.255',
    after: '192.0.1.0',
  },
  {
    what: 'documentation 1',
    first: '192.0.2.0',
    last: '192.0.2.255',
    inside: ['192.0.2.1'],
    before: '192.0.1.255',
    after: '192.0.3.0',
  },
  {
    what: 'AS112 v4',
    first: '192.31.196.0',
    last: '192.31.196.255',
    before: '192.31.195.255',
    after: '192.31.197.0',
  },
  {
    what: 'AMT',
    first: '192.52.193.0',
    last: '192.52.193.255',
    before: '192.52.192.255',
    after: '192.52.194.0',
  },
  {
    what: '6to4 relays',
    first: '192.88.99.0',
    last: '192.88.99.255',
    inside: ['192.88.99.1', '192.88.99.2'],
    before: '192.88.98.255',
    after: '192.88.100.0',
  },
  {
    what: 'private 192.168/16',
    first: '192.168.0.0',
    last: '192.168.255.255',
    inside: ['192.168.0.1', '192.168.1.1'],
    before: '192.167.255.255',
    after: '192.169.0.0',
  },
  {
    what: 'AS112 direct',
    first: '192.175.48.0',
    last: '192.175.48.255',
    before: '192.175.47.255',
    after: '192.175.49.0',
  },
  {
    what: 'benchmarking',
    first: '198.18.0.0',
    last: '198.19.255.255',
    inside: ['198.18.0.1', '198.19.0.0'],
    before: '198.17.255.255',
    after: '198.20.0.0',
  },
  {
    what: 'documentation 2',
    first: '198.51.100.0',
    last: '198.51.100.255',
    inside: ['198.51.100.7'],
    before: '198.51.99.255',
    after: '198.51.101.0',
  },
  {
    what: 'documentation 3',
    first: '203.0.113.0',
    last: '203.0.113.255',
    inside: ['203.0.113.5'],
    before: '203.0.112.255',
    after: '203.0.114.0',
  },
  {
    what: 'multicast',
    first: '224.0.0.0',
    last: '239.255.255.255',
    inside: ['224.0.0.251', '233.252.0.1', '239.0.0.1'],
    before: '223.255.255.255',
  },
  {
    what: 'reserved',
    first: '240.0.0.0',
    last: '255.255.255.254',
    inside: ['250.1.2.3', '255.0.0.1'],
  },
  { what: 'broadcast', first: '255.255.255.255', last: '255.255.255.255' },
]

const end = 'ffff:ffff:ffff:ffff:ffff:ffff'
const ipv6Ranges: Range[] = [
  { what: 'unspecified', first: '::', last: '::' },
  { what: 'loopback', first: '::1', last: '::1' },
  {
    what: 'IPv4-compatible',
    first: '::2',
    last: '::ffff:ffff',
    inside: ['::7f00:1', '::808:808', '::127.0.0.1', '::8.8.8.8', '::10.0.0.1'],
  },
  {
    what: 'IPv4-mapped',
    first: '::ffff:0:0',
    last: '::ffff:ffff:ffff',
    inside: [
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:10.0.0.1',
      '::ffff:192.168.1.1',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '::ffff:8.8.8.8',
      '::ffff:808:808',
      '::FFFF:127.0.0.1',
      '0:0:0:0:0:ffff:127.0.0.1',
      '0000:0000:0000:0000:0000:ffff:7f00:0001',
    ],
  },
  {
    what: 'IPv4-translated',
    first: '::ffff:0:0:0',
    last: '::ffff:0:ffff:ffff',
    inside: ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  },
  {
    what: 'NAT64',
    first: '64:ff9b::',
    last: '64:ff9b::ffff:ffff',
    inside: [
      '64:ff9b::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b::10.0.0.1',
      '64:ff9b::8.8.8.8',
      '64:ff9b::c0a8:101',
      '0064:ff9b::1.1.1.1',
    ],
  },
  {
    what: 'local NAT64',
    first: '64:ff9b:1::',
    last: '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
    inside: ['64:ff9b:1::10.0.0.1', '64:ff9b:1:7f00:0:100::'],
  },
  {
    what: 'discard',
    first: '100::',
    last: '100::ffff:ffff:ffff:ffff',
    inside: ['100::1'],
  },
  {
    what: 'dummy',
    first: '100:0:0:1::',
    last: '100:0:0:1:ffff:ffff:ffff:ffff',
  },
  {
    what: 'the space below global unicast',
    first: '200::',
    last: `1fff:ffff:${end}`,
    inside: ['400::1', '1000::1'],
    after: '2000::',
  },
  {
    what: 'IETF assignments, Teredo first',
    first: '2001::',
    last: `2001:1ff:${end}`,
    inside: [
      '2001::1',
      '2001:0:7f00:1::',
      '2001:0:4136:e378:8000:63bf:3fff:fdd2',
      `2001:0:${end}`,
      '2001:1::1',
      '2001:1::2',
      '2001:2::',
      '2001:2::1',
      '2001:3::1',
      '2001:4:112::1',
      '2001:10::',
      '2001:10::1',
      `2001:1f:${end}`,
      '2001:20::',
      '2001:20::1',
      `2001:2f:${end}`,
      '2001:30::1',
      `2001:3f:${end}`,
      '2001:40::1',
    ],
    before: `2000:ffff:${end}`,
    after: '2001:200::',
  },
  {
    what: 'documentation',
    first: '2001:db8::',
    last: `2001:db8:${end}`,
    inside: ['2001:db8::1', '2001:DB8::1', '2001:0db8:0:0:0:0:0:1'],
    before: `2001:db7:${end}`,
    after: '2001:db9::',
  },
  {
    what: '6to4',
    first: '2002::',
    last: `2002:ffff:${end}`,
    inside: [
      '2002:7f00:1::',
      '2002:7f00:1::1',
      '2002:a00:1::',
      '2002:c0a8:101::1',
      '2002:a9fe:a9fe::',
      '2002:808:808::1',
    ],
    before: `2001:ffff:${end}`,
    after: '2003::',
  },
  {
    what: 'AS112',
    first: '2620:4f:8000::',
    last: '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    before: '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff',
    after: '2620:4f:8001::',
  },
  {
    what: 'documentation 2',
    first: '3fff::',
    last: '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    inside: ['3fff::1', '3fff:123::1'],
    before: `3ffe:ffff:${end}`,
    after: '3fff:1000::',
  },
  {
    what: 'the space above global unicast',
    first: '4000::',
    last: `5eff:ffff:${end}`,
    inside: ['5000::1'],
    before: `3fff:ffff:${end}`,
  },
  {
    what: 'segment routing',
    first: '5f00::',
    last: `5f00:ffff:${end}`,
    inside: ['5f00::1'],
  },
  {
    what: 'unassigned',
    first: '5f01::',
    last: `fbff:ffff:${end}`,
    inside: ['6000::1', '8000::1', 'a000::1', 'c000::1', 'e000::1', 'f000::1', 'f800::1'],
  },
  {
    what: 'unique local',
    first: 'fc00::',
    last: `fdff:ffff:${end}`,
    inside: ['fc00::1', 'fd00::1', 'fd00:ec2::254', 'fd12:3456:789a::1'],
  },
  {
    what: 'unassigned 2',
    first: 'fe00::',
    last: `fe7f:ffff:${end}`,
    inside: ['fe00::1'],
  },
  {
    what: 'link-local',
    first: 'fe80::',
    last: `febf:ffff:${end}`,
    inside: ['fe80::1', 'fe80::a9fe:a9fe', 'FE80::1'],
  },
  {
    what: 'site-local',
    first: 'fec0::',
    last: `feff:ffff:${end}`,
    inside: ['fec0::1', 'fed0::1'],
  },
  {
    what: 'multicast',
    first: 'ff00::',
    last: `ffff:ffff:${end}`,
    inside: ['ff02::1', 'ff02::fb', 'ff05::2', 'ff0e::1', 'FF02::1'],
  },
]

const hosts = [
  '1.1.1.1',
  '1.0.0.1',
  '8.8.8.8',
  '9.9.9.9',
  '23.0.0.1',
  '93.184.216.34',
  '100.0.0.1',
  '172.0.0.1',
  '172.64.0.1',
  '181.47.0.1',
  '190.210.0.1',
  '192.1.0.1',
  '198.17.0.1',
  '200.45.0.1',
  '203.0.114.1',
  '223.255.255.254',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:4860:4860:0:0:0:0:8844',
  '2001:4860:4860:0000:0000:0000:0000:8888',
  '2001:500:2::c',
  '2003::1',
  '2400:cb00:2048:1::c629:d7a2',
  '2606:4700:4700::1111',
  '2606:4700:4700::1.1.1.1',
  '2606:4700:4700:0:0:0:1.0.0.1',
  '2620:fe::fe',
  '2803:9800::1',
  '2A00:1450:4009:80B::200E',
  '2a01:4f8:c17:b8f::2',
  '2c0f:fb50:4002:800::200e',
  '3ffe::1',
]

/** What some resolver, browser or libc takes for an address, and what none should. */
const spellings = [
  // Loopback and others in the number forms of inet_aton.
  '2130706433',
  '3232235521',
  '2852039166',
  '134744072',
  '0',
  '1',
  '4294967295',
  '4294967296',
  '0x7f000001',
  '0X7F000001',
  '0x7f.0x0.0x0.0x1',
  '0x7f.0.0.1',
  '0x7f.1',
  '0x08080808',
  '0x8.0x8.0x8.0x8',
  '017700000001',
  '0177.0.0.1',
  '0177.0000.0000.0001',
  '0177.1',
  '00177.0.0.1',
  '010.0.0.1',
  '010.8.8.8',
  '08.8.8.8',
  '8.8.8.08',
  '8.08.8.8',
  '008.008.008.008',
  '127.1',
  '127.0.1',
  '10.1',
  '8.8',
  '8.8.8',
  '8.8.2056',
  '8.526344',
  '127.0.0.01',
  '127.0.0.0x1',
  '127.00.0.1',
  '192.168.257',
  '169.254.43518',
  '0251.0376.0251.0376',
  // Not four octets.
  '',
  ' ',
  '.',
  '...',
  '8',
  '8.',
  '8.8.8.',
  '.8.8.8.8',
  '8.8.8.8.',
  '8..8.8',
  '8.8.8.8.8',
  '8.8.8.256',
  '256.8.8.8',
  '8.8.8.999',
  '8.8.8.99999999999',
  '8.8.8.-1',
  '-8.8.8.8',
  '+8.8.8.8',
  '8.8.8.8e0',
  '8e0.8.8.8',
  '8.8.8.a',
  'a.8.8.8',
  '8.8.8.8/32',
  '8.8.8.0/24',
  '8.8.8.8:443',
  '8.8.8.8%1',
  '8.8.8.8%eth0',
  ' 8.8.8.8',
  '8.8.8.8 ',
  '8.8.8.8\n',
  '8.8.8.8\u0000',
  '\t8.8.8.8',
  '8,8,8,8',
  '8.8.8.8,1.1.1.1',
  '8.8.8.8 1.1.1.1',
  '[8.8.8.8]',
  '８.8.8.8',
  '8。8。8。8',
  '٨.8.8.8',
  '①.8.8.8',
  '8.8.8.⑧',
  // Not eight groups.
  ':',
  ':::',
  '1',
  '2606',
  '2606:',
  ':2606',
  '2606:4700',
  '2606:4700:4700:1111',
  '2606:4700:4700:0:0:0:0',
  '2606:4700:4700:0:0:0:0:0:1111',
  '2606:4700:4700::0:0:0:0:1111:1',
  '2606::4700::1111',
  '2606:4700:4700:::1111',
  ':2606:4700:4700::1111',
  '2606:4700:4700::1111:',
  '2606:4700:4700::11111',
  '2606:4700:4700::01111',
  '2606:4700:4700::g',
  '2606:4700:4700::0x1',
  '2606:4700:4700::-1',
  '2606:4700:4700::1111 ',
  ' 2606:4700:4700::1111',
  '2606:4700:4700::1111\n',
  '2606:4700:4700::1111\u0000',
  '[2606:4700:4700::1111]',
  '[2606:4700:4700::1111]:443',
  '2606:4700:4700::1111/128',
  '2606:4700:4700::/48',
  '2606:4700:4700::１',
  '2606:4700:4700::1.1.1',
  '2606:4700:4700::1.1.1.1.1',
  '2606:4700:4700::256.1.1.1',
  '2606:4700:4700::01.1.1.1',
  '2606:4700:4700::1.1.1.08',
  '2606:4700:4700::0x1.1.1.1',
  '2606:4700:4700::1.1.1.1:1',
  '2606:1.1.1.1::1',
  '1.1.1.1::',
  '::ffff:127.0.0.01',
  '::ffff:0177.0.0.1',
  '::ffff:0x7f.0.0.1',
  '::ffff:127.1',
  '::ffff:2130706433',
  '::ffff:08.8.8.8',
  '[::1]',
  '[::ffff:127.0.0.1]',
  // Zone ids, also on an address that would be public without.
  'fe80::1%eth0',
  'fe80::1%1',
  'fe80::1%25eth0',
  'fe80::%lo',
  '::1%lo',
  '::1%0',
  '::ffff:127.0.0.1%lo',
  '2606:4700:4700::1111%eth0',
  '2606:4700:4700::1111%1',
  '2606:4700:4700::1111%',
  '2606:4700:4700::1.1.1.1%eth0',
  'ff02::1%eth0',
  // Names and other things.
  'localhost',
  'localhost.',
  'ip6-localhost',
  'example.com',
  '127.0.0.1.nip.io',
  '8.8.8.8.in-addr.arpa',
  '2606-4700-4700--1111.ipv6-literal.net',
  'v1.fe80',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  'any',
  '*',
  '*.*.*.*',
  'deadbeef',
]

const ranges = [...ipv4Ranges, ...ipv6Ranges]
const inside = ranges.flatMap(({ what, first, last, inside = [] }) =>
  [...new Set([first, ...inside, last])].map((address): [string, string] => [address, what]),
)
const beside = ranges.flatMap(({ what, before, after }) => [
  ...(before === undefined ? [] : [[before, `before ${what}`] as [string, string]]),
  ...(after === undefined ? [] : [[after, `after ${what}`] as [string, string]]),
])

describe('a public address', () => {
  test.each(inside)('is not %s (%s)', (address) => {
    expect(publicAddress(address)).toBe(false)
  })

  test.each(beside)('is %s (%s)', (address) => {
    expect(publicAddress(address)).toBe(true)
  })

  test.each(hosts)('is %s', (address) => {
    expect(publicAddress(address)).toBe(true)
  })

  test.each(spellings)('is not spelt %p', (text) => {
    expect(publicAddress(text)).toBe(false)
  })

  test('was tried in at least 300 different forms', () => {
    const tried = new Set([...inside, ...beside].map(([address]) => address))
    expect(tried.size + new Set([...hosts, ...spellings]).size).toBeGreaterThanOrEqual(300)
  })

  test('never carries one of the refused IPv4 addresses in its low bits behind a known prefix', () => {
    for (const { first, last } of ipv4Ranges) {
      for (const inner of [first, last]) {
        for (const prefix of ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2002::']) {
          expect(publicAddress(`${prefix}${inner}`)).toBe(false)
        }
      }
    }
  })
})

describe('a loopback address', () => {
  test('is one of 127.0.0.0/8 or ::1, strictly spelt', () => {
    for (const address of ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']) {
      expect(loopbackAddress(address)).toBe(true)
    }
    for (const address of [
      '126.255.255.255',
      '128.0.0.0',
      '::',
      '::2',
      '::ffff:127.0.0.1',
      '127.1',
      '0177.0.0.1',
      '2130706433',
      '::1%lo',
      '10.0.0.1',
      'localhost',
      '',
    ]) {
      expect(loopbackAddress(address)).toBe(false)
    }
  })
})
