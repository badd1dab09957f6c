import { expect, test } from 'bun:test'
import { createOwnAddresses } from '../../src/app/addresses.ts'

const listening = { url: 'http://192.168.1.10:3000', secureUrl: 'https://192.168.1.10:3443' }

test('the addresses of the ports count once the service listens', () => {
  const addresses = createOwnAddresses([])
  expect([addresses.ports(), addresses.relayUrl(null)]).toEqual([
    { url: '', secureUrl: null },
    null,
  ])
  addresses.listening(listening)
  expect(addresses.ports()).toEqual(listening)
  expect(addresses.base()).toBe(listening.url)
  expect(addresses.origins()).toEqual([listening.secureUrl, listening.url])
  expect(addresses.relayUrl('http://elsewhere:3000')).toBe('ws://192.168.1.10:3000/relay')
})

test('without a certificate there is one origin twice', () => {
  const addresses = createOwnAddresses([])
  addresses.listening({ ...listening, secureUrl: null })
  expect(addresses.origins()).toEqual([listening.url, listening.url])
})

test('the settings come before the ports', () => {
  const addresses = createOwnAddresses(['https://cupones.example', 'https://other.example'])
  addresses.listening(listening)
  expect(addresses.base()).toBe('https://cupones.example')
  expect(addresses.origins()).toEqual(['https://cupones.example', 'https://other.example'])
  expect(addresses.relayUrl('http://elsewhere:3000')).toBe('wss://cupones.example/relay')
})

test('a service on every address names the relay by the origin of the request, if there is one', () => {
  const addresses = createOwnAddresses([])
  addresses.listening({ url: 'http://0.0.0.0:3000', secureUrl: null })
  expect(addresses.relayUrl('http://192.168.1.10:3000')).toBe('ws://192.168.1.10:3000/relay')
  expect([addresses.relayUrl(null), addresses.relayUrl('http://[::]:3000')]).toEqual([null, null])
})
