import { chooseLanguage, language } from '../browser/language.ts'
import { chooseTheme, shownTheme } from '../browser/theme.ts'
import { commonWords as t } from '../words/common.ts'
import { IconButton } from './button.tsx'

/** Buttons for language and theme. */
export function Preferences() {
  const other = language.value === 'es' ? 'en' : 'es'
  const dark = shownTheme.value === 'dark'
  return (
    <div class="prefs">
      <button
        type="button"
        class="button quiet"
        lang={other}
        aria-label={`${other.toUpperCase()}: ${t('prefs.language')}`}
        title={t('prefs.language')}
        onClick={() => chooseLanguage(other)}
      >
        {other.toUpperCase()}
      </button>
      <IconButton
        icon={dark ? 'sun' : 'moon'}
        label={t(dark ? 'prefs.light' : 'prefs.dark')}
        onClick={() => chooseTheme(dark ? 'light' : 'dark')}
      />
    </div>
  )
}
