import type { Benefit } from '../coupons/benefit.ts'
import type { RefusalCode } from './described/codes.ts'
import { pictureIn } from './images.ts'
import { type Answer, codeOf, settles } from './persist.ts'
import { rulesIn, type ShownRules } from './voucher-rules.ts'

/** The fields of a voucher that every answer about it has. */
export type VoucherTerms = {
  couponId: string
  coupon: Benefit
  name: string
  description: string
  npub: string
  image: string | null
  nonce: string
  expiresAt: number | null
  rules?: ShownRules
  picture?: string
}

/** The terms in an answer; null when it is a failure. */
export function termsOf({ failure, body }: Answer): VoucherTerms | null {
  const whole =
    failure === null &&
    typeof body.name === 'string' &&
    typeof body.npub === 'string' &&
    typeof body.nonce === 'string' &&
    typeof body.coupon === 'object' &&
    body.coupon !== null
  if (!whole) return null
  const { couponId, coupon, name, description, npub, image, nonce, expiresAt } =
    body as unknown as VoucherTerms
  const known = { couponId, coupon, name, description, npub, image, nonce, expiresAt }
  return { ...known, ...rulesIn(body), ...pictureIn(body) }
}

const unknown = new Set<string>([
  ...(['voucher-unknown', 'nonce-invalid'] as const),
] satisfies RefusalCode[])

/** True where the service has no coupon of this code. */
export function isUnknown(answer: Answer): boolean {
  return settles(answer) && unknown.has(codeOf(answer))
}

/** The sentence of the service in an answer, or null. */
export function messageOf({ body }: Answer): string | null {
  return typeof body.error === 'string' && body.error !== '' ? body.error : null
}
