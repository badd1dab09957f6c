import { hexOf } from '../base/bytes.ts'
import { OperatorError } from '../base/operator-error.ts'
import { mac } from '../crypto/seal.ts'
import type { Nodes } from '../db/database.ts'
import type { Config } from './config.ts'
import type { LoadedKeys } from './keyring.ts'
import { settings } from './settings.ts'

/**
 * The rule of a setting for the nodes of one database. `equal`: a node with another value does not start while one with
 * the old value runs. `warned`: it starts with a warning, so that a change can be rolled. `own`: each node has its own.
 * `pinned`: the database is bound to it (keys.ts).
 */
type Rule = 'equal' | 'warned' | 'own' | 'pinned'

export const nodeRules: Readonly<Record<keyof typeof settings, Rule>> = {
  managerSecret: 'pinned',
  storeKey: 'pinned',
  cardMasterKey: 'pinned',
  // A session of one node is none for another.
  sessionSecret: 'equal',
  // Amounts of tokens, and the services that pay.
  tokens: 'equal',
  ledgerPubkey: 'equal',
  gatewayPubkey: 'equal',
  // A node gives up deliveries to relays that its settings do not name.
  relays: 'equal',
  publicUrls: 'warned',
  merchants: 'warned',
  federationId: 'warned',
  identityIssuers: 'warned',
  identitySelfSignup: 'warned',
  identityReserved: 'warned',
  voucherServices: 'warned',
  allowPrivateServices: 'warned',
  cardWriters: 'warned',
  defaultLimits: 'warned',
  rateLimit: 'warned',
  host: 'own',
  port: 'own',
  tlsCert: 'own',
  tlsKey: 'own',
  tlsPort: 'own',
  dataDir: 'own',
  databaseUrl: 'own',
  nodeName: 'own',
  diskFloor: 'own',
  trustedProxies: 'own',
  metricsToken: 'own',
  logLevel: 'own',
  logFormat: 'own',
}

const names = Object.keys(nodeRules) as (keyof typeof nodeRules)[]
const compared = names.filter((name) => ['equal', 'warned'].includes(nodeRules[name]))
const equal = new Set(
  names.filter((name) => nodeRules[name] === 'equal').map((name) => settings[name].variable),
)

/**
 * Compare the settings with those of the running nodes. Throws OperatorError if one differs that all must have.
 * Resolves to a line with the others that differ, or to null.
 */
export async function requireAgreement(
  nodes: Nodes | null,
  config: Config,
  { storeKey, sessionSecret }: LoadedKeys,
): Promise<string | null> {
  if (nodes === null) return null
  const values: Record<string, unknown> = { ...config, sessionSecret }
  const fingerprints = Object.fromEntries(
    compared.map((name) => {
      const { variable } = settings[name]
      const secret = textOf(spell(values[name]))
      // Keyed, so that nobody tries out values on a copy of the database.
      return [variable, hexOf(mac(storeKey, { purpose: 'fingerprint', secret, key: variable }))]
    }),
  )
  const differences = await nodes.agree(fingerprints, equal)
  for (const { node, settings } of differences) {
    const refused = settings.filter((name) => equal.has(name))
    if (refused.length === 0) continue
    throw new OperatorError(
      `the node ${node} on this database has another ${refused.join(', ')}: give every node the same, or stop the others first`,
    )
  }
  const lines = differences.map(({ node, settings }) => `${settings.join(', ')} (node ${node})`)
  return lines.length > 0 ? lines.join('; ') : null
}

/** A value of a setting in one spelling, whatever the order of its members. */
function spell(value: unknown): unknown {
  if (value instanceof Set) return [...value].toSorted(byText)
  if (value instanceof Map) return [...value].toSorted(byText)
  return value
}

function byText(a: unknown, b: unknown): number {
  return textOf(a) < textOf(b) ? -1 : 1
}

/** Amounts are bigints, which JSON has no word for. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one)) ?? ''
}
