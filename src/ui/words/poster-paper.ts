import { createWords } from './words.ts'

/** Sentences on a printed poster. */
export const paperWords = createWords({
  scan: ['Escaneá y llevate tu cupón', 'Scan and take your coupon'],
  'scan.network': [
    'Conectate al Wi-Fi del local, escaneá y llevate tu cupón',
    'Join the shop’s Wi-Fi, scan and take your coupon',
  ],
  person: [
    'Un cupón por persona.|{n} cupones por persona.',
    'One coupon per person.|{n} coupons per person.',
  ],
  day: [
    'Un cupón por día.|Hasta {n} cupones por día.',
    'One coupon per day.|Up to {n} coupons per day.',
  ],
  total: [
    'Un solo cupón en total.|Hasta {n} cupones en total.',
    'One coupon in total.|Up to {n} coupons in total.',
  ],
  from: ['Se entregan desde {when}.', 'Given out from {when}.'],
  until: ['Se entregan hasta {when}.', 'Given out until {when}.'],
})
