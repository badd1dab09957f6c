import { OperatorError } from '../base/operator-error.ts'
import type { Signer } from '../nostr/event.ts'
import { DemoFailure } from './demo-checks.ts'
import {
  createDemoClient,
  type Exchange,
  type Patience,
  parseServerAddress,
} from './demo-client.ts'
import { newDemoKey, startLife } from './demo-life.ts'
import { demoSteps } from './demo-steps.ts'

/** The server for the demo, and the permission of its merchant. */
export type DemoTarget = {
  /** URL for the requests. */
  url: string
  /** Origin of the server for signatures, if it differs from `url`. */
  origin?: string | undefined
  /** Runs a function while a key may manage coupons. Absent if this machine cannot decide that. */
  asGuest?: (pubkey: string, run: () => Promise<number>) => Promise<number>
}

/**
 * Take a coupon through its whole life on a running server, with new keys, and check each answer. It prints each
 * step. The exit code is 0 only if all answers were right.
 */
export async function demo(
  { url, origin, asGuest }: DemoTarget,
  patience?: Patience,
): Promise<number> {
  const base = parseServerAddress(url)
  if (base === null) {
    console.error(
      `cuponera: ${url} is no address of a server: give one such as http://127.0.0.1:3000`,
    )
    return 1
  }
  const merchant = newDemoKey()
  const signed = origin ?? base
  const runAll = () => runSteps(createDemoClient(base, signed, patience), base, signed, merchant)
  return asGuest ? asGuest(merchant.pubkey, runAll) : runAll()
}

async function runSteps(
  client: ReturnType<typeof createDemoClient>,
  base: string,
  origin: string,
  merchant: Signer,
): Promise<number> {
  console.log(`A coupon's life at ${base}\n`)
  let title = ''
  try {
    for (const step of demoSteps(origin, startLife(client, merchant))) {
      title = step.title
      client.last = null
      const detail = await step.run()
      print('✓', title, client.last, detail)
    }
  } catch (cause) {
    if (OperatorError.is(cause, 'no-answer')) {
      console.error(`cuponera: ${cause.message}`)
      return 1
    }
    if (!(cause instanceof DemoFailure)) throw cause
    print('✗', title, client.last, '')
    console.error(`\ncuponera: the demo failed at "${title}": ${cause.message}`)
    return 1
  }
  console.log('\nEverything as it should be: every signature, every byte.')
  return 0
}

function print(mark: string, title: string, last: Exchange | null, detail: string): void {
  const exchange = last
    ? `${last.method.padEnd(6)} ${last.path} → ${last.status || 'no answer'}`
    : ''
  console.log(`${mark} ${title}\n    ${exchange.padEnd(50)} ${detail}`)
}
