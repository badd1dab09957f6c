import { Refusal } from '../base/refusal.ts'
import type { Definition, DefinitionChanges, NewDefinition } from './definition.ts'

/** The https addresses of uploaded pictures. */
export type PictureAddresses = {
  /** The https address of a picture. Null without an https `PUBLIC_URL`. */
  addressOf(picture: string): string | null
  /** The picture that an address of this service names. Null for every other address. */
  pictureAt(address: string): string | null
}

type Shown = { image: string | null; picture: string | null }

/**
 * Bring `image` and `picture` together: an uploaded picture has its own address as image, and an image that is such
 * an address is that picture. Refuses `field-invalid` for both, when they are two.
 */
function joinPicture(addresses: PictureAddresses, { image, picture }: Shown): Shown {
  const named = image === null ? null : addresses.pictureAt(image)
  const chosen = picture ?? named
  if (chosen === null) return { image, picture: null }
  if (image !== null && named !== chosen) throw new Refusal('field-invalid', { field: 'image' })
  return { image: addresses.addressOf(chosen), picture: chosen }
}

/** A new definition whose image and picture belong together. Refuses `field-invalid`. */
export function withPicture(addresses: PictureAddresses, input: NewDefinition): NewDefinition {
  return { ...input, ...joinPicture(addresses, input) }
}

/** An edit whose image and picture belong together. One replaces the other. Refuses `field-invalid`. */
export function withPictureChanged(
  addresses: PictureAddresses,
  definition: Definition,
  changes: DefinitionChanges,
): DefinitionChanges {
  const { picture } = changes
  if (changes.image === undefined && picture === undefined) return changes
  // Clients send every field back: the address of an earlier PUBLIC_URL, or the null of a picture without an address.
  const sameImage = changes.image === definition.image
  if (sameImage && (picture === undefined || picture === definition.picture)) return changes
  const image = sameImage ? undefined : changes.image
  // The image of a picture goes with it.
  const left = definition.picture === null ? definition.image : null
  const otherwise = picture === null ? left : null
  const asked = { image: image === undefined ? otherwise : image, picture: picture ?? null }
  return { ...changes, ...joinPicture(addresses, asked) }
}
