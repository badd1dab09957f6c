import { computed, effect, signal } from '@preact/signals'
import { request } from '../../client/api.ts'
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
    const whole =
      known ?? outlineOf(await request<ApiDocument>(`/openapi.json?lang=${wanted}`, patient))
    loaded.set(wanted, whole)
    // The person may have switched again meanwhile.
    if (language.peek() === wanted) outline.value = whole
  } catch {
    failed.value = true
  }
}

/** A phone on a slow network takes this long for the description. */
const patient = { patienceMs: 60_000 }

function placeNow(): string {
  return location.hash.slice(1)
}
