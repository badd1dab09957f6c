import { effect, signal } from '@preact/signals'
import { device } from './storage.ts'

export type Language = 'es' | 'en'

/** What the page speaks: as chosen, else as the browser says, else Spanish. */
export const language = signal<Language>(initialLanguage())

/** The BCP 47 name, for `lang` and for numbers and dates. */
export function locale(): 'es-AR' | 'en' {
  return language.value === 'es' ? 'es-AR' : 'en'
}

/** Speak another language, from now on and on this device. */
export function choose(chosen: Language): void {
  language.value = chosen
  device.write('language', chosen)
}

effect(() => {
  document.documentElement.lang = locale()
})

function initialLanguage(): Language {
  const chosen = device.read('language')
  if (chosen === 'es' || chosen === 'en') return chosen
  return navigator.language.toLowerCase().startsWith('en') ? 'en' : 'es'
}
