/** Which devices can open the link of a coupon. */
import { describe, expect, test } from 'bun:test'
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
