/** The outside: network, environment, clock and foreign JSON are touched in few places. */
import { expect, test } from 'bun:test'
import { importersOf, placesOf } from './tree.ts'

test('only the reach layer and the commands that call a server open connections', () => {
  const reach =
    /^src\/(outbound\/|gateway\/relays|cli\/(demo|health|control|card-sim)|client\/api\.ts|ui\/till\/service-worker\.ts)/
  const serving = /^src\/(app\/|http\/)/
  // A method called fetch is not a call: its parameters are followed by a body.
  const client = /(?<![.\w#])fetch\((?![^)]*\) \{)|new WebSocket\(|Bun\.(connect|udpSocket|dns)\b/
  const modules = /^(node:)?(net|http|https|http2|dns|dns\/promises|tls|dgram)$/
  expect([
    ...placesOf(client, reach),
    ...placesOf(/Bun\.(serve|listen)\b/, serving),
    ...importersOf(modules, new RegExp(`${reach.source}|${serving.source}`)),
  ]).toEqual([])
})

test('app/ has no timers, and start.ts no variables', () => {
  expect([
    ...placesOf(/\bset(Interval|Timeout|Immediate)\(/, /^src\/(?!app\/)/),
    ...placesOf(/^\s*(let|var) /, /^src\/(?!app\/start\.ts$)/),
  ]).toEqual([])
})

test('only config.ts reads the environment, and only production.ts changes it', () => {
  const touching = /^src\/(app\/config|http\/production)\.ts$/
  expect(placesOf(/\b(process|Bun|import\.meta)\.env\b/, touching)).toEqual([])
})

test('only base/json.ts parses JSON, but for what this program wrote itself', () => {
  const ours = [
    // The one for everything that comes from outside.
    'base/json',
    // Columns: each value was checked before it was written.
    '([a-z-]+/)+([a-z-]+-)?store',
    // Texts that were sealed under our own key.
    'wallet/(transfers/swap|cards/delegation|cards/requests)',
    // An answer of our own mint, before it leaves.
    'wallet/transfers/receive',
    // The document is made from copies of our own models, from answers made for it, and from our own pages.
    'http/(openapi|reference)',
    // Events out of the outbox, and what passes between the relay's thread and this one.
    'gateway/(access|embedded)',
    'relay/(host|relay-worker)',
    // News of another node, and what it tells of itself.
    'db/postgres/(news|nodes)',
    // Our own server's answers, over its socket and to its pages: as long as the lists in them.
    'cli/control',
    'client/api',
    // Values that a page keeps on its device.
    'client/json',
  ]
  const places = new RegExp(`^src/(${ours.join('|')})\\.ts$`)
  expect(placesOf(/\bJSON\.parse\b|\.json\(\)/, places)).toEqual([])
})

test('only clock.ts and pages read the clock, and only the edge and the engine the stopwatch', () => {
  expect([
    ...placesOf(
      /\bDate\.now\b|\bDate\(\)|\bnew Date\b(?!\()/,
      /^src\/(base\/clock\.ts$|ui\/[a-z]+\/)/,
    ),
    ...placesOf(
      /\bperformance\.now\b|\bBun\.nanoseconds\b|\bhrtime\b/,
      /^src\/(app\/|http\/|db\/|cli\/|ui\/[a-z]+\/|relay\/relay-worker\.ts)/,
    ),
  ]).toEqual([])
})
