import { afterAll, expect, mock, test } from 'bun:test'
import os from 'node:os'
import { secondsNow } from '../support/clock.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

let networkInterfaces = os.networkInterfaces
await mock.module('node:os', () => ({ ...os, networkInterfaces: () => networkInterfaces() }))
const {
  toBrowserUrl: openable,
  ownAddress,
  renewOwnCertificate,
} = await import('../../src/tls/files.ts')

afterAll(cleanUp)

const at = (address: string, internal = false) => ({
  ...{ address, internal, netmask: '', mac: '', cidr: null },
  ...(address.includes(':')
    ? { family: 'IPv6' as const, scopeid: 0 }
    : { family: 'IPv4' as const }),
})

test('the machine’s address is its first IPv4 address of a local network', () => {
  networkInterfaces = () => ({
    lo: [at('127.0.0.1', true)],
    eth0: [at('fd00::2'), at('203.0.113.7'), at('192.168.1.10')],
  })
  expect(ownAddress()).toBe('192.168.1.10')
  networkInterfaces = () => ({ eth0: [at('fd00::2')] })
  expect(ownAddress()).toBeNull()
})

test('that address stands for a service that listens on every address', () => {
  networkInterfaces = () => ({ eth0: [at('192.168.1.10')] })
  expect(openable('http://0.0.0.0:2121')).toBe('http://192.168.1.10:2121')
  expect(openable('https://[::]')).toBe('https://192.168.1.10')
  const others = ['http://127.0.0.1:2121', 'http://10.0.0.0.0.example', 'http://[::1]:2121']
  expect(others.map(openable)).toEqual(others)
  networkInterfaces = () => ({
    lo: [at('127.0.0.1', true)],
    eth0: [at('169.254.1.2'), at('fd00::2'), at('203.0.113.7')],
  })
  expect(openable('http://0.0.0.0:2121')).toBe('http://203.0.113.7:2121')
  networkInterfaces = () => ({ eth0: [at('169.254.1.2')] })
  expect(openable('http://0.0.0.0:2121')).toBe('http://127.0.0.1:2121')
  networkInterfaces = () => ({})
  expect(openable('http://0.0.0.0:2121')).toBe('http://127.0.0.1:2121')
})

test('a start and a certificate work without addresses where a sandbox hides them', async () => {
  networkInterfaces = () => {
    throw new Error('getifaddrs returned an error')
  }
  expect(ownAddress()).toBeNull()
  const { hosts } = await renewOwnCertificate(newDirectory(), secondsNow())
  expect(hosts).toContain('localhost')
})
