import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { uploadPicture } from '../../src/pictures/upload.ts'
import { samples } from '../support/pictures.ts'

test('a picture is read before the transaction begins', async () => {
  const pictures = {
    database: { transact: () => Promise.reject(new Error('the transaction began')) },
  } as unknown as Parameters<typeof uploadPicture>[0]
  const caller = { pubkey: 'a'.repeat(64), spend: undefined } as Parameters<typeof uploadPicture>[1]
  const invalid = () => uploadPicture(pictures, caller, Buffer.from('GIF89a'))
  await expect(invalid()).rejects.toMatchObject({ code: 'picture-invalid' })
})

const used = { pictures: 0, bytes: 0, kept: 0, keptBytes: 0 }
const size = samples.png.length
const full: [says: string, usage: Partial<typeof used>][] = [
  ['pictures in use', { pictures: limits.picturesPerOwnerMax }],
  ['bytes in use', { bytes: limits.pictureBytesPerOwnerMax - size + 1 }],
  ['pictures that are kept', { kept: limits.picturesKeptPerOwnerMax }],
  ['bytes that are kept', { keptBytes: limits.pictureBytesKeptPerOwnerMax - size + 1 }],
]
for (const [says, usage] of full) {
  test(`an upload is refused at the limit of ${says}`, async () => {
    const stores = { pictures: { findOf: () => null, usage: () => ({ ...used, ...usage }) } }
    const pictures = {
      now: () => 1,
      origin: null,
      requireMerchant: () => undefined,
      charge: () => Promise.reject(new Error('there was room')),
      database: { transact: (_: object, run: (tx: object) => unknown) => run(stores) },
    } as unknown as Parameters<typeof uploadPicture>[0]
    const caller = { pubkey: 'a'.repeat(64) } as Parameters<typeof uploadPicture>[1]
    const sent = () => uploadPicture(pictures, caller, samples.png)
    await expect(sent()).rejects.toMatchObject({ code: 'pictures-full' })
  })
}
