/** The requests of a move, against a service that loses answers. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ApiError } from '../../src/client/api-error.ts'
import { finishArrival, sendPieces } from '../../src/client/move.ts'
import { mistypedMoveWord, newMovePassphrase } from '../../src/client/move-words.ts'

const realFetch = globalThis.fetch
const mebibyte = 1024 * 1024
const file = new Blob([new Uint8Array(2 * mebibyte).fill(1), new Uint8Array(9).fill(2)])

let received: number
let asked: string[]
let pauses: number[]
/** Outcomes of the next requests: the answer is lost before or after the work, or the service is busy. */
let faults: ('before' | 'after' | 'busy' | 'none')[]

const refuse = (status: number, code: string, more = {}) =>
  Response.json({ code, error: '.', ...more }, { status })

/** The route of the pieces, as the service has it. */
async function takePiece(path: string, init: RequestInit): Promise<Response> {
  asked.push(path)
  const fault = faults.shift() ?? 'none'
  if (fault === 'before') throw new TypeError('no connection')
  if (fault === 'busy') return refuse(503, 'overloaded', { retryAfter: 5 })
  const at = Number(new URLSearchParams(path.split('?')[1]).get('at'))
  if (at === 0) received = 0
  if (at !== received) return refuse(400, 'field-invalid', { field: 'at' })
  received += (init.body as Blob).size
  if (fault === 'after') throw new TypeError('no connection')
  return Response.json({ bytes: received })
}

beforeEach(() => {
  received = 0
  asked = []
  pauses = []
  faults = []
  globalThis.fetch = takePiece as never
})

afterEach(() => {
  globalThis.fetch = realFetch
})

const pause = async (seconds: number) => void pauses.push(seconds)

async function send(): Promise<number[]> {
  const sent: number[] = []
  await sendPieces(file, { ticket: 't', pause, onSent: (bytes) => void sent.push(bytes) })
  return sent
}

const placesOf = (paths: string[]) => paths.map((path) => Number(path.split('at=')[1]) / mebibyte)

test('a file goes in pieces of 1 MiB, each once', async () => {
  expect(await send()).toEqual([mebibyte, 2 * mebibyte, file.size])
  expect(placesOf(asked)).toEqual([0, 1, 2])
  expect(received).toBe(file.size)
})

test('only the piece without an answer is sent again, and one that arrived counts as sent', async () => {
  faults = ['none', 'before', 'after', 'none', 'busy']
  await send()
  expect(placesOf(asked)).toEqual([0, 1, 1, 1, 2, 2])
  expect(pauses).toEqual([1, 2, 5])
  expect(received).toBe(file.size)
})

test('a service that stays out of reach ends the upload', async () => {
  faults = Array.from({ length: 9 }, () => 'before' as const)
  const failure = await send().catch((cause: unknown) => cause)
  expect(failure).toMatchObject({ code: 'unreachable' })
  expect(placesOf(asked)).toEqual([0, 0, 0, 0, 0])
})

test('a piece that is refused at its first try ends the upload', async () => {
  globalThis.fetch = (async () => refuse(400, 'field-invalid', { field: 'at' })) as never
  const failure = await send().catch((cause: unknown) => cause)
  expect((failure as ApiError).field).toBe('at')
})

test('the end of an arrival is known by the other manager, also after a lost answer', async () => {
  const managers = ['old', 'old', null, 'new']
  globalThis.fetch = (async (path: string) => {
    if (path !== '/api/coupons/manager') throw new TypeError('no connection')
    const pubkey = managers.shift()
    return pubkey ? Response.json({ pubkey }) : refuse(503, 'shutting-down')
  }) as never
  await finishArrival({ ticket: 't', passphrase: 'x', pause })
  expect(managers).toEqual([])
})

test('wrong words end an arrival without a wait', async () => {
  globalThis.fetch = (async (path: string) =>
    path === '/api/coupons/manager'
      ? Response.json({ pubkey: 'old' })
      : refuse(400, 'move-passphrase-wrong')) as never
  const failure = await finishArrival({ ticket: 't', passphrase: 'x', pause }).catch(
    (cause: unknown) => cause,
  )
  expect(failure).toBeInstanceOf(ApiError)
  expect(pauses).toEqual([])
})

test('the one mistyped word among eight is named', () => {
  const words = newMovePassphrase()
  expect(mistypedMoveWord(words)).toBeNull()
  expect(mistypedMoveWord(words.replace(/^\S+/, 'qqq'))).toBe('qqq')
})
