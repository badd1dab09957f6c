/** Which operations have an effect. */
import type { OperationName } from './described/operations.ts'

/** Whether an operation has no effect. Three of LNURL have one although they are a GET. */
export function reads(name: string): boolean {
  if (name === 'POST /api/coupons/preview' || name === 'POST /nostr/fetch') return true
  return name.startsWith('GET ') && !acting.has(name)
}

const acting = new Set<string>([
  'GET /card/scan',
  'GET /card/pay',
  'GET /api/lud16/{name}/cb',
] satisfies OperationName[])
