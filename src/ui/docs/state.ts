import { computed, effect, signal } from '@preact/signals'
import { exchange } from '../../client/api.ts'
import type { ApiDocument } from '../../http/openapi.ts'
import { type Language, language } from '../browser/language.ts'
import { type Outline, outlineOf } from './outline.ts'
import { indexOf } from './search.ts'
import { sayIn } from './words.ts'

/** The description in the language of the page: while it loads, that of the language before. */
export const outline = signal<Outline | null>(null)
export const failed = signal(false)

export const say = computed(() => sayIn(language.value))
export const index = computed(() => (outline.value ? indexOf(outline.value) : []))

/** The view in the fragment, such as `postCouponsClaim` or `code-voucher-expired`. */
export const place = signal(placeNow())

/** Words to search; not empty: their results are the view. */
export const query = signal('')

const loaded = new Map<Language, Outline>()

/** Load the description, and follow the language and the address. */
export function follow(): void {
  effect(() => void load(language.value))
  window.addEventListener('hashchange', () => {
    place.value = placeNow()
    query.value = ''
  })
}

/** The description of a language, once. */
export async function load(wanted: Language): Promise<void> {
  failed.value = false
  try {
    const known = loaded.get(wanted)
    const whole = known ?? outlineOf(await fetchDocument(wanted))
    loaded.set(wanted, whole)
    // The person may have switched again meanwhile.
    if (language.peek() === wanted) outline.value = whole
  } catch {
    failed.value = true
  }
}

async function fetchDocument(wanted: Language): Promise<ApiDocument> {
  // A phone on a slow network takes this long for it.
  const { value } = await exchange(`/openapi.json?lang=${wanted}`, { timeoutMs: 60_000 })
  return value as ApiDocument
}

function placeNow(): string {
  return location.hash.slice(1)
}
