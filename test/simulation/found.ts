import type { Script } from './world.ts'

/**
 * Scripts that failed once: shrunk by `npm run simulate`, and kept for good. `found`: the complaint, or the fault that
 * was planted when it failed.
 */
export const found: readonly (Script & { found: string })[] = [
  {
    found: 'planted: a refresh is repeated under any key',
    seed: 1,
    machines: 2,
    steps: [
      { do: 'define', at: 0, n: [0, 0, 0], turns: null },
      { do: 'define', at: 1, n: [1, 0, 0], turns: null },
      { do: 'mint', at: 0, n: [20504, 57419, 39869], turns: null },
      { do: 'claim', at: 0, n: [29391, 28082, 34281], turns: null },
      { do: 'again', at: 0, n: [36418, 52562, 61445], turns: null },
      { do: 'refresh', at: 0, n: [18201, 62952, 29169], turns: null },
      { do: 'refresh', at: 0, n: [58063, 12459, 36187], turns: null },
      { do: 'refresh', at: 0, n: [49360, 8278, 26584], turns: null },
    ],
  },
  {
    found: 'planted: a minter who may only redeem mints',
    seed: 10,
    machines: 2,
    steps: [
      { do: 'define', at: 1, n: [1, 0, 0], turns: null },
      { do: 'define', at: 1, n: [52902, 30200, 1200], turns: null },
      { do: 'define', at: 1, n: [60572, 34990, 62065], turns: null },
      { do: 'minter', at: 1, n: [481, 34187, 9894], turns: null },
      { do: 'mint', at: 1, n: [2487, 23350, 45678], turns: null },
    ],
  },
  {
    found: 'planted: a person takes more than one from a poster',
    seed: 4,
    machines: 2,
    steps: [
      { do: 'define', at: 0, n: [0, 0, 0], turns: null },
      { do: 'poster', at: 0, n: [19368, 50784, 23940], turns: null },
      { do: 'take', at: 0, n: [42348, 8130, 57466], turns: null },
      { do: 'take', at: 0, n: [61191, 22016, 604], turns: null },
    ],
  },
  {
    found: 'planted: the cap of a poster a day is not checked',
    seed: 10,
    machines: 2,
    steps: [
      { do: 'define', at: 0, n: [0, 0, 0], turns: null },
      { do: 'poster', at: 0, n: [128, 58537, 7807], turns: null },
      { do: 'claim', at: 1, n: [23694, 11147, 61710], turns: null },
      { do: 'take', at: 0, n: [41331, 59824, 15285], turns: null },
      { do: 'take', at: 0, n: [3139, 49062, 39490], turns: null },
      { do: 'take', at: 0, n: [39505, 51853, 60197], turns: null },
    ],
  },
  {
    found: 'planted: the answer of a take is given to another person with the same key',
    seed: 2,
    machines: 2,
    steps: [
      { do: 'define', at: 0, n: [0, 0, 0], turns: null },
      { do: 'define', at: 0, n: [47109, 28828, 41456], turns: null },
      { do: 'define', at: 0, n: [61812, 2165, 2050], turns: null },
      { do: 'poster', at: 0, n: [51062, 48953, 46327], turns: null },
      { do: 'take', at: 0, n: [58832, 24944, 51651], turns: null },
      { do: 'take', at: 0, n: [8716, 35397, 2105], turns: null },
    ],
  },
  {
    found: 'planted: a savepoint of a refused operation is not undone',
    seed: 2,
    machines: 2,
    steps: [
      { do: 'define', at: 0, n: [61812, 2165, 2050], turns: null },
      { do: 'poster', at: 0, n: [51062, 48953, 46327], turns: null },
      { do: 'take', at: 0, n: [58832, 24944, 51651], turns: null },
      { do: 'take', at: 0, n: [4363, 40000, 37512], turns: null },
    ],
  },
  {
    found: 'planted: a failed commit is answered as done',
    seed: 1,
    machines: 2,
    steps: [
      { do: 'define', at: 1, n: [65454, 57902, 55399], turns: null },
      { do: 'fault', at: 1, n: [47010, 30943, 57743], turns: null },
      { do: 'define', at: 1, n: [35344, 53745, 54631], turns: null },
    ],
  },
  {
    found: 'planted: a clock that is behind is not noticed',
    seed: 6,
    machines: 2,
    steps: [
      { do: 'define', at: 1, n: [1, 0, 0], turns: null },
      { do: 'clock', at: 1, n: [47063, 15176, 4446], turns: null },
      { do: 'mint', at: 1, n: [32532, 11911, 37251], turns: null },
    ],
  },
  {
    found: 'planted: silence of a relay counts as a delivery',
    seed: 1,
    machines: 2,
    steps: [{ do: 'transaction', at: 0, n: [14567, 18250, 63732], turns: null }],
  },
  {
    found: 'planted: funds are not checked before a transfer',
    seed: 1,
    machines: 2,
    steps: [
      { do: 'card', at: 0, n: [58223, 50223, 23956], turns: null },
      { do: 'tap', at: 1, n: [25474, 62742, 44167], turns: null },
      { do: 'pay', at: 0, n: [28557, 52633, 42780], turns: null },
    ],
  },
  {
    found: 'planted: a start event that was settled is settled again',
    seed: 6,
    machines: 2,
    steps: [
      { do: 'transaction', at: 0, n: [51825, 44514, 55896], turns: null },
      { do: 'again', at: 0, n: [21709, 31746, 5311], turns: null },
    ],
  },
  {
    found: 'planted: a tap is taken twice',
    seed: 1,
    machines: 2,
    steps: [
      { do: 'card', at: 0, n: [58223, 50223, 23956], turns: null },
      { do: 'tap', at: 1, n: [8460, 39549, 15583], turns: null },
    ],
  },
  {
    found: 'planted: a mint passes the limit and the expiry of its coupon',
    seed: 1,
    machines: 2,
    steps: [
      { do: 'define', at: 1, n: [56003, 41988, 13846], turns: null },
      { do: 'pass', at: 0, n: [13133, 38778, 45049], turns: null },
      { do: 'mint', at: 1, n: [45806, 51947, 9350], turns: null },
    ],
  },
  {
    found: 'planted: two balances are told with the same second',
    seed: 3,
    machines: 2,
    steps: [
      { do: 'transaction', at: 0, n: [8487, 54691, 64058], turns: null },
      { do: 'transaction', at: 0, n: [11495, 7675, 40226], turns: null },
    ],
  },
  {
    found: 'planted: an accepted event is not queued',
    seed: 1,
    machines: 2,
    steps: [{ do: 'transaction', at: 0, n: [14567, 18250, 63732], turns: null }],
  },
  {
    found: 'planted: a card spends 60 more than its limit',
    seed: 22,
    machines: 2,
    steps: [
      { do: 'transaction', at: 0, n: [3516, 48894, 17997], turns: 2 },
      { do: 'card', at: 1, n: [150, 38327, 32848], turns: 3 },
      { do: 'tap', at: 1, n: [61386, 23713, 54358], turns: null },
      { do: 'pay', at: 0, n: [39706, 50743, 20935], turns: null },
    ],
  },
  {
    found: 'planted: neither the lookup nor the write of a k1 sees that it was used',
    seed: 5,
    machines: 2,
    steps: [
      { do: 'card', at: 0, n: [25512, 28941, 26630], turns: null },
      { do: 'tap', at: 0, n: [45912, 62408, 639], turns: null },
      { do: 'transaction', at: 0, n: [55549, 9450, 41641], turns: null },
      { do: 'pay', at: 1, n: [65382, 37740, 13286], turns: null },
      { do: 'pay', at: 1, n: [52784, 34760, 22578], turns: null },
    ],
  },
]
