// Before anything else: it sets the time and the random numbers of this process.
import './determined.ts'
import { parseArgs } from 'node:util'

/**
 * The same requests on the embedded engine and on PostgreSQL: `npm run differential -- 100`, with `--seed 7` for the
 * first script and `--steps 150` for its length. A script whose answers differ is shortened, to be added to `found.ts`;
 * with `--as-it-is` it is only told. Exits with 1 then.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '150' },
    found: { type: 'boolean', default: false },
    'as-it-is': { type: 'boolean', default: false },
  },
})
const { compare } = await import('./campaign.ts')
const ended = await compare({
  scripts: Number(positionals[0] ?? 20),
  first: Number(values.seed),
  steps: Number(values.steps),
  found: values.found,
  asItIs: values['as-it-is'],
})
process.exit(ended ? 0 : 1)
