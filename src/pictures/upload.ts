import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import { picturePath } from './address.ts'
import { pictureHash } from './hash.ts'
import type { UploadedModel } from './models.ts'
import type { PictureStores, Pictures } from './service.ts'
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
    const now = pictures.now()
    if (await tx.pictures.findOf(caller.pubkey, hash)) {
      await tx.pictures.keep(caller.pubkey, hash, now)
      return { fresh: false, body }
    }
    await requireRoom(tx, caller, bytes.length, now)
    await pictures.charge(tx, caller.pubkey, { bytes: bytes.length })
    pictures.requireDisk()
    await tx.pictures.insert(caller.pubkey, hash, { type, bytes }, now)
    return { fresh: true, body }
  })
}

/** Refuse `pictures-full`. Pictures of what is over stay, and count only towards the larger limits. */
async function requireRoom(
  tx: PictureStores,
  { pubkey }: Caller,
  added: number,
  now: number,
): Promise<void> {
  const { pictures, bytes, kept, keptBytes } = await tx.pictures.usage(pubkey, now)
  if (
    pictures >= limits.picturesPerOwnerMax ||
    bytes + added > limits.pictureBytesPerOwnerMax ||
    kept >= limits.picturesKeptPerOwnerMax ||
    keptBytes + added > limits.pictureBytesKeptPerOwnerMax
  ) {
    throw new Refusal('pictures-full')
  }
}
