import { createHash } from 'node:crypto'

/** Vouchers of a made file: some of its indexes in scattered order, `start` to `start + count` of that order. */
export type FilePart = {
  total: number
  start: number
  count: number
  /** Only those that can still be spent. */
  open: boolean
}

/** The nonce of voucher `index` in a made file: known to the bench, as random as any other to the database. */
export function nonceAt(index: number): string {
  return createHash('sha256')
    .update(`bench ${index}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url')
}

/** The first 16 bytes of sha256(nonce): what the database knows it by. */
export function handleAt(index: number): Uint8Array {
  return createHash('sha256').update(nonceAt(index)).digest().subarray(0, 16)
}

/**
 * The states of each ten vouchers of a made file: 0 claimed, 1 refreshed into 2, the rest open. So a tenth
 * of the rows carries the weight of a redemption and a tenth that of a sealed answer.
 */
export function phaseAt(index: number): 'claimed' | 'refreshed' | 'minted' {
  const place = index % 10
  if (place === 0) return 'claimed'
  return place === 1 ? 'refreshed' : 'minted'
}

/** The nonces of a part: neighbours in the list are far from each other in the file. */
export function noncesOf({ total, start, count, open }: FilePart): string[] {
  // A stride without a common divisor visits each index once.
  let stride = Math.floor(total * 0.6180339887) | 1
  while (divisor(stride, total) !== 1) stride += 2
  const nonces: string[] = []
  for (let step = start; step < Math.min(start + count, total); step++) {
    const index = (step * stride) % total
    if (open && phaseAt(index) !== 'minted') continue
    nonces.push(nonceAt(index))
  }
  return nonces
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b)
}
