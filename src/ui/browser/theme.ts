import { effect, signal } from '@preact/signals'
import { device } from './storage.ts'

type Theme = 'light' | 'dark' | 'auto'

/** As chosen on this device; `auto` follows the system. */
const theme = signal<Theme>(parseTheme(device.read('theme')))

/** The theme that shows now. */
export const shown = signal<'light' | 'dark'>('light')

/** Wear another theme, from now on and on this device. */
export function wear(chosen: Theme): void {
  theme.value = chosen
  device.write('theme', chosen)
}

const system = window.matchMedia('(prefers-color-scheme: dark)')

/** Follow the choice and the system from now on. */
export function followTheme(): void {
  const apply = () => {
    const dark = theme.value === 'dark' || (theme.value === 'auto' && system.matches)
    shown.value = dark ? 'dark' : 'light'
    document.documentElement.dataset.theme = shown.value
  }
  effect(apply)
  system.addEventListener('change', apply)
}

function parseTheme(text: string | null): Theme {
  return text === 'light' || text === 'dark' ? text : 'auto'
}
