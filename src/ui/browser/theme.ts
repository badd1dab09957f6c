import { effect, signal } from '@preact/signals'
import { device } from './storage.ts'

type Theme = 'light' | 'dark' | 'auto'

/** The choice on this device; `auto` follows the system. */
const theme = signal<Theme>(parseTheme(device.read('theme')))

/** The theme on the screen. */
export const shownTheme = signal<'light' | 'dark'>('light')

/** Choose the theme of all pages on this device. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  device.write('theme', chosen)
}

const system = window.matchMedia('(prefers-color-scheme: dark)')

/** Apply the theme, and follow the choice and the system. */
export function followTheme(): void {
  const apply = () => {
    const dark = theme.value === 'dark' || (theme.value === 'auto' && system.matches)
    shownTheme.value = dark ? 'dark' : 'light'
    document.documentElement.dataset.theme = shownTheme.value
  }
  effect(apply)
  system.addEventListener('change', apply)
}

function parseTheme(text: string | null): Theme {
  return text === 'light' || text === 'dark' ? text : 'auto'
}
