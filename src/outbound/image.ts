import { limits } from '../base/limits.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/** The merchant of the coupon, and the client address that asks for the picture. */
type For = { merchant: string; address: string }

/** Fetches the bytes of a picture. Null if the other server fails. Throws OutboundError `busy` if no slot is free. */
type FetchImage = (url: string, whose: For) => Promise<Uint8Array | null>

/** Create the fetcher of pictures, bounded in size, in slots and in waiting time. */
export function createImageFetcher(fetchPublic: FetchPublic): FetchImage {
  const inTurn = createSlots(limits.imageSlots)
  return async (text, whose) => {
    const url = URL.parse(text)
    if (!url) return null
    return inTurn({ ...whose, host: url.host }, async () => {
      try {
        const { status, body } = await fetchPublic(url, {
          deadlineMs: limits.imageDeadlineMs,
          bodyBytesMax: limits.imageBytesMax,
          accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
        })
        return status === 200 ? body : null
      } catch (error) {
        if (error instanceof OutboundError) return null
        throw error
      }
    })
  }
}
