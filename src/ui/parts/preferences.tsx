import { chooseLanguage, language } from '../browser/language.ts'
import { chooseTheme, shownTheme } from '../browser/theme.ts'
import { IconButton } from './button.tsx'

/** Actions of the buttons, in the language of the page. They are handed in: `/docs` loads no other page's words. */
type Words = { language: string; dark: string; light: string }

/** Buttons for language and theme. */
export function Preferences({ words }: { words: Words }) {
  const other = language.value === 'es' ? 'en' : 'es'
  const dark = shownTheme.value === 'dark'
  return (
    <div class="prefs">
      <button
        type="button"
        class="button quiet"
        lang={other}
        aria-label={`${other.toUpperCase()}: ${words.language}`}
        title={words.language}
        onClick={() => chooseLanguage(other)}
      >
        {other.toUpperCase()}
      </button>
      <IconButton
        icon={dark ? 'sun' : 'moon'}
        label={dark ? words.light : words.dark}
        onClick={() => chooseTheme(dark ? 'light' : 'dark')}
      />
    </div>
  )
}
