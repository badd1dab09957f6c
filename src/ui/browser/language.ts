import { effect, signal } from '@preact/signals'
import { device } from './storage.ts'

export type Language = 'es' | 'en'

/** The language of the page: as chosen, else the browser's, else Spanish. */
export const language = signal<Language>(initialLanguage())

/** The language of a text that is made for another reader. */
let other: Language | null = null

/** The language of the text that is made now. */
export function spoken(): Language {
  return other ?? language.value
}

/** A text in a language that need not be that of the page. */
export function inLanguage<Text>(chosen: Language, make: () => Text): Text {
  const before = other
  other = chosen
  try {
    return make()
  } finally {
    other = before
  }
}

/** BCP 47 name of the language, for `lang`, numbers and dates. */
export function locale(): 'es-AR' | 'en-GB' {
  return spoken() === 'es' ? 'es-AR' : 'en-GB'
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
