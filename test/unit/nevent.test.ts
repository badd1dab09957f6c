import { expect, test } from 'bun:test'
import { decode, neventEncode } from 'nostr-tools/nip19'
import { encodeNevent } from '../../src/nostr/nevent.ts'
import { createEvent } from '../support/events.ts'

test('produces the published address of an event, byte for byte', () => {
  const event = {
    id: '7b6b54ee390ccd66b1340a2f5f4230420d8655fdc42ccf74136dd808840cfa18',
    pubkey: 'a4c10dc7da61602206cf4affe58cf721bae1593b23f76736ab1f65c8a1df9674',
    kind: 1112,
  }
  expect(encodeNevent(event, ['wss://relay.lawallet.ar'])).toBe(
    'nevent1qqs8k665acusentxky6q5t6lggcyyrvx2h7ugtx0wsfkmkqgssx05xqpzamhxue69uhhyetvv9ujumrpwaskcmr9wshxzuszyzjvzrw8mfskqgsxea90levv7usm4c2e8v3lweek4v0ktj9pm7t8gqcyqqqqgkqzedlme',
  )
})

test.each([
  [0, []],
  [1, ['ws://127.0.0.1:4777/relay']],
  [30_078, ['wss://a.example', 'wss://b.example/path', 'wss://ñandú.example', 'wss://d.example']],
  [65_535, [`wss://a.example/${'a'.repeat(239)}`]],
] as [number, string[]][])('is read back by others: kind %i at %j', (kind, relays) => {
  const { id, pubkey } = createEvent()
  const data = { id, author: pubkey, kind, relays }
  expect(decode(encodeNevent({ id, pubkey, kind }, relays))).toEqual({ type: 'nevent', data })
  expect(decode(neventEncode(data))).toEqual({ type: 'nevent', data })
})

test('contains four relays at most, and none whose address is too long for an entry', () => {
  const { id, pubkey, kind } = createEvent()
  const many = ['a', 'b', 'c', 'd', 'e'].map((name) => `wss://${name}.example`)
  const long = `wss://a.example/${'a'.repeat(240)}`
  const { data } = decode(encodeNevent({ id, pubkey, kind }, [long, ...many]))
  expect(data).toMatchObject({ relays: many.slice(0, 4) })
})
