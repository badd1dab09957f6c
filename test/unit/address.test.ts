import { describe, expect, test } from 'bun:test'
import { loopbackAddress, publicAddress } from '../../src/outbound/address.ts'
import { beside, hosts, inside, ipv4Ranges, spellings } from '../support/address-forms.ts'

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

  test('is tested in at least 300 different notations', () => {
    const tried = new Set([...inside, ...beside].map(([address]) => address))
    expect(tried.size + new Set([...hosts, ...spellings]).size).toBeGreaterThanOrEqual(300)
  })

  test('never has a refused IPv4 address in its low bits behind a known prefix', () => {
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
  test('is within 127.0.0.0/8 or ::1, in a strict notation', () => {
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
