import { expect, test } from 'bun:test'
import { uploadPicture } from '../../src/pictures/upload.ts'

test('a picture is read before the transaction begins', async () => {
  const pictures = {
    database: { transact: () => Promise.reject(new Error('the transaction began')) },
  } as unknown as Parameters<typeof uploadPicture>[0]
  const caller = { pubkey: 'a'.repeat(64), spend: undefined } as Parameters<typeof uploadPicture>[1]
  const invalid = () => uploadPicture(pictures, caller, Buffer.from('GIF89a'))
  await expect(invalid()).rejects.toMatchObject({ code: 'picture-invalid' })
})
