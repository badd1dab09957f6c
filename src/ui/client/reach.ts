/** Whether the service can be reached, and requests that tell it apart from a no. */
import { signal } from '@preact/signals'
import type { Answer } from '../till/attempt.ts'
import type { TextStore } from '../till/pending.ts'
import { request } from './api.ts'
import { ApiError, errorText } from './api-error.ts'
import { device } from './storage.ts'

/** False from the first request without an answer until the next one with. */
export const reachable = signal(true)

const lookMs = 10_000
const managerPlace = 'manager'

/** One request whose trouble is an answer like any other: nothing that a network does is thrown. */
export async function ask(
  path: string,
  body: unknown,
  key?: string,
  patience: { patienceMs?: number } = {},
): Promise<Answer> {
  try {
    const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
    const answer = await request<unknown>(path, { method: 'POST', body, headers, ...patience })
    reachable.value = true
    return { status: 200, body: asObject(answer), retryAfter: null }
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    reachable.value = cause.code !== 'unreachable'
    const { status, code, retryAfter } = cause
    // What a page of the Wi-Fi answers is nothing that the service said.
    const error = code === 'unreachable' || code === 'answer-invalid' ? '' : errorText(cause)
    return { status, body: { code, error }, retryAfter }
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The key that signs vouchers here, kept from when the service could be asked. */
export function managerKey(): string | null {
  return device.read(managerPlace)
}

/** Ask for the manager's key: keeps it, and shows whether anybody answers. */
async function lookForService(): Promise<void> {
  try {
    const { pubkey } = await request<{ pubkey: string }>('/api/coupons/manager')
    reachable.value = true
    device.write(managerPlace, pubkey)
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    reachable.value = cause.code !== 'unreachable'
  }
}

/** Look now, when the network comes back, and every few seconds while nobody answers. */
export function watchService(): void {
  const look = () => void lookForService()
  window.addEventListener('online', look)
  window.addEventListener('offline', look)
  setInterval(() => {
    if (!reachable.peek() && !document.hidden) look()
  }, lookMs)
  look()
}

/** What this device keeps, for the lists that must not lose anything. */
export const keptTexts: TextStore = {
  get: (name) => device.read(name),
  set: (name, text) => device.write(name, text),
  remove: (name) => device.remove(name),
}

/** A wait that somebody can cut short. */
export function createPause() {
  const waiting = new Set<() => void>()
  return {
    pause: (seconds: number) =>
      new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer)
          waiting.delete(end)
          resolve()
        }
        const timer = setTimeout(end, seconds * 1000)
        waiting.add(end)
      }),
    hurry() {
      for (const end of [...waiting]) end()
    },
  }
}
