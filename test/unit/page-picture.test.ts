/** Pictures for paper, which must neither wait for them nor show a broken one. */
import { afterAll, afterEach, expect, jest, test } from 'bun:test'
import { loadedPath } from '../../src/ui/browser/load-picture.ts'

const real = globalThis.Image
/** The fate of every picture. */
let decode: () => Promise<void>

globalThis.Image = class {
  src = ''
  decode = () => decode()
} as unknown as typeof Image

afterEach(() => {
  jest.useRealTimers()
})

afterAll(() => {
  globalThis.Image = real
})

test('a logo that loads stands on the paper', async () => {
  decode = async () => {}
  expect(await loadedPath('/api/pictures/a')).toBe('/api/pictures/a')
  expect(await loadedPath(null)).toBeNull()
})

test('a logo that cannot be loaded is left out', async () => {
  decode = () => Promise.reject(new DOMException('no image', 'EncodingError'))
  expect(await loadedPath('/api/pictures/a')).toBeNull()
})

test('a logo that never arrives holds the paper back for two seconds', async () => {
  jest.useFakeTimers()
  decode = () => new Promise(() => {})
  const path = loadedPath('/api/pictures/a')
  jest.advanceTimersByTime(2000)
  expect(await path).toBeNull()
})
