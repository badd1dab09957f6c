import type { Script } from './run.ts'

/** Scripts that differed once, or while a fault was planted. */
export const found: Script[] = [
  // Planted: the writes of a refused operation stay on PostgreSQL.
  {
    seed: 8,
    steps: [
      { do: 'define', n: [0, 1, 1] },
      { do: 'edit', n: [43_375, 60_470, 37_104] },
      { do: 'poster', n: [1448, 46_582, 58_261] },
      { do: 'take', n: [44_641, 63_992, 20_207] },
    ],
  },
  // Planted: a text with NUL goes to PostgreSQL as it is.
  {
    seed: 117,
    steps: [
      { do: 'invite', n: [0, 1, 0] },
      { do: 'identify', n: [1, 0, 1] },
      { do: 'poster', n: [54_882, 55_720, 41_220] },
      { do: 'publish', n: [30_456, 46_108, 34_962] },
    ],
  },
  // Planted: events of one second have no order.
  {
    seed: 3002,
    steps: [
      { do: 'transaction', n: [60_913, 1815, 1494] },
      { do: 'configure', n: [58_844, 24_252, 6555] },
      { do: 'transaction', n: [52_543, 5652, 224] },
      { do: 'transaction', n: [56_631, 53_622, 4034] },
      { do: 'fetch', n: [22_400, 54_084, 17_711] },
    ],
  },
  // An answer was sealed twice on PostgreSQL, where the first redemption of an hour runs again.
  {
    seed: 1_744_593_884,
    steps: [
      { do: 'define', n: [55_777, 59_075, 56_174] },
      { do: 'mint', n: [10_110, 57_409, 27_770] },
      { do: 'claim', n: [50_080, 5402, 42_204] },
    ],
  },
]
