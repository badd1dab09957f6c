import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import { picturePath } from './address.ts'
import { pictureHash } from './hash.ts'
import type { UploadedModel } from './models.ts'
import type { Pictures } from './service.ts'
import { stripPicture } from './strip.ts'

type Uploaded = { fresh: boolean; body: Static<typeof UploadedModel> }

/**
 * Store a picture without its metadata. The same picture again gives the same answer, and another day before it is
 * deleted unused. Refuses `picture-invalid`, `picture-too-wide`, `merchant-not-allowed`, `pictures-full`,
 * `bytes-day-full`, `disk-low`.
 */
export async function uploadPicture(
  pictures: Pictures,
  caller: Caller,
  sent: Uint8Array,
): Promise<Uploaded> {
  // Before the transaction, because other writes wait for it.
  const { type, bytes } = stripPicture(sent)
  const hash = pictureHash(bytes)
  const plan = { roots: [{ merchant: caller.pubkey }], first: caller.spend }
  return pictures.database.transact(plan, async (tx) => {
    await pictures.requireMerchant(tx, caller)
    const url = picturePath(hash, pictures.origin)
    const body = { picture: { hash, url, type, bytes: bytes.length } }
    if (await tx.pictures.findOf(caller.pubkey, hash)) {
      await tx.pictures.keep(caller.pubkey, hash, pictures.now())
      return { fresh: false, body }
    }
    const used = await tx.pictures.usage(caller.pubkey)
    const tooMany = used.pictures >= limits.picturesPerOwnerMax
    if (tooMany || used.bytes + bytes.length > limits.pictureBytesPerOwnerMax) {
      throw new Refusal('pictures-full')
    }
    await pictures.charge(tx, caller.pubkey, { bytes: bytes.length })
    pictures.requireDisk()
    await tx.pictures.insert(caller.pubkey, hash, { type, bytes }, pictures.now())
    return { fresh: true, body }
  })
}
