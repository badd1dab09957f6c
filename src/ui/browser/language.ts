import { effect, signal } from '@preact/signals'
import { device } from './storage.ts'

export type Language = 'es' | 'en'

/** The language of the page: as chosen, else the browser's, else Spanish. */
export const language = signal<Language>(initialLanguage())

/** BCP 47 name of the language, for `lang`, numbers and dates. */
export function locale(): 'es-AR' | 'en-GB' {
  return language.value === 'es' ? 'es-AR' : 'en-GB'
}

/** Choose the language of all pages on this device. */
export function chooseLanguage(chosen: Language): void {
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
