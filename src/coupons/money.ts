import type { Static } from '@sinclair/typebox'
import { clientLimits } from '../base/limits-client.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { MoneyModel } from './models.ts'

/** An amount in its currency: at most two decimals, none for SAT. */
export type Money = Static<typeof MoneyModel>

const currencies = ['ARS', 'USD', 'SAT'] as const

/** Read an amount and its currency. `path` is the field of both, `code` the refusal. */
export function parseMoney(value: unknown, path: string, code: RefusalCode): Money {
  const { amount, currency: name } = parseObject(value, path, code)
  const currency = currencies.find((one) => one === name)
  if (!currency) throw new Refusal(code, { field: `${path}.currency` })
  const places = currency === 'SAT' ? 0 : 2
  if (
    !isNumber(amount) ||
    amount <= 0 ||
    amount > clientLimits.amountMax ||
    decimals(amount) > places
  ) {
    throw new Refusal(code, { field: `${path}.amount` })
  }
  return { amount, currency }
}

/** Read an object of any keys. */
export function parseObject(
  value: unknown,
  field: string,
  code: RefusalCode,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal(code, { field })
  }
  return value as Record<string, unknown>
}

/** True for a finite number. */
export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** Number of decimal places of a number up to `amountMax`. 3 stands for more than two. */
export function decimals(value: number): number {
  for (const places of [0, 1, 2]) {
    if (Number(value.toFixed(places)) === value) return places
  }
  return 3
}
