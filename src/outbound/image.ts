import { limits } from '../base/limits.ts'
import { type FetchPublic, OutboundError } from './fetch-public.ts'
import { createSlots } from './slots.ts'

/** Whose coupon shows the picture, and from where it is asked for. */
type For = { merchant: string; address: string }

/** The bytes of a picture, or null when the far side does not give it. OutboundError `busy` when too many ask. */
type FetchImage = (url: string, whose: For) => Promise<Uint8Array | null>

/** Build a fetcher of pictures over `fetchPublic`, bounded in size, work and waiting. */
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
