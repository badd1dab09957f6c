import type { Random } from './random.ts'

const strings = [
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  'constructor',
  'ARS',
  'percent',
  'https://a.example/x.png',
  'https://user:pass@a.example',
  'javascript:alert(1)',
  '\u0000',
  'línea\nnueva\t',
  '\u202e‮',
  '🧉',
  '👩‍👩‍👧‍👦',
  '\ud800',
  'a\udc00b',
  'ñ'.repeat(80),
  '🧉'.repeat(81),
  'x'.repeat(501),
  "'; DROP TABLE vouchers; --",
  '{{7*7}}',
  '../../etc/passwd',
  '%00%2e%2e',
  '-1',
  '1e999',
  'a'.repeat(64),
  'npub1'.padEnd(63, 'q'),
  'name@example.com',
]

const numbers = [
  0,
  -0,
  1,
  -1,
  2,
  10,
  100,
  101,
  0.1,
  0.001,
  33.333,
  1e-320,
  1e15,
  1e21,
  1e308,
  Number.POSITIVE_INFINITY,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  1_700_000_000,
  1_700_000_000_000,
]

const names = ['type', 'd', 'qty', 'amount', 'currency', 'toString', '__proto__', 'length', 'nonce']

/** Any value that JSON can carry, and Infinity, which `1e999` is. */
export function anyValue(random: Random, depth = 3): unknown {
  const kind = random.below(depth > 0 ? 9 : 6)
  switch (kind) {
    case 0:
      return null
    case 1:
      return random.chance(0.5)
    case 2:
      return random.pick(numbers)
    case 3:
      return random.next() * 10 ** random.below(20)
    case 4:
      return random.pick(strings)
    case 5:
      return anyText(random)
    case 6:
      return Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1))
    case 7:
      return Array.from({ length: random.pick([51, 200]) }, (_, at) => `producto ${at}`)
    default:
      return anyObject(random, depth)
  }
}

export function anyObject(random: Random, depth = 3): Record<string, unknown> {
  const entries = Array.from({ length: random.below(5) }, () => [
    random.chance(0.8) ? random.pick(names) : anyText(random),
    anyValue(random, depth - 1),
  ])
  return Object.fromEntries(entries)
}

export function anyText(random: Random): string {
  const length = random.below(random.pick([4, 30, 600]))
  const one = () => String.fromCharCode(random.below(random.pick([128, 256, 0x1_0000])))
  return Array.from({ length }, one).join('')
}

/** The value with one part exchanged, dropped, doubled or added. */
export function mutate(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
    const at = random.below(value.length)
    const copy = [...value]
    const change = random.below(10)
    if (change === 0) copy.splice(at, 1)
    else if (change === 1) copy.push(copy[at])
    else copy[at] = mutate(random, copy[at])
    return copy
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && random.chance(0.9)) {
    const copy: Record<string, unknown> = { ...value }
    const present = Object.keys(copy)
    if (present.length === 0 || random.chance(0.1)) copy[random.pick(names)] = anyValue(random)
    else {
      const name = random.pick(present)
      if (random.chance(0.15)) delete copy[name]
      else copy[name] = mutate(random, copy[name])
    }
    return copy
  }
  if (typeof value === 'string' && random.chance(0.4)) return mutateText(random, value)
  return anyValue(random)
}

/** The text with a character exchanged, dropped or added, cut short, or repeated. */
export function mutateText(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const one = random.chance(0.5) ? String.fromCharCode(random.below(128)) : anyText(random)
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + one + text.slice(at)
    case 2:
      return text.slice(0, at) + one + text.slice(at + 1)
    case 3:
      return text.slice(0, at) + text.slice(at + 1)
    default:
      return text + text
  }
}
