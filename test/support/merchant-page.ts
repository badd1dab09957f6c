import type { Page } from 'playwright-core'
import { nextFrame } from './page-states.ts'

/** The steps of a merchant in the panel, which speaks Spanish. */
export const pin = '246810'

/** Make a key under a PIN. No field needs a click. */
export async function chooseKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Crear mi clave acá/ }).click()
  await page.getByLabel('¿Cómo se llama tu negocio?').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Café Ñandú')
  await page.keyboard.press('Tab')
  await page.keyboard.type(pin)
  await page.getByRole('button', { name: 'Crear mi clave' }).click()
}

/** Make a key under a PIN and come in. */
export async function makeKey(page: Page): Promise<void> {
  await chooseKey(page)
  await page.getByRole('heading', { name: 'Primeros pasos' }).waitFor()
}

/** One step of the wizard on. */
export async function next(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Seguir' }).click()
  // The focus moves on in the next frame; what is typed before would land where it goes.
  await nextFrame(page)
}

/** The address that the shown QR carries. */
export async function shownAddress(page: Page): Promise<string> {
  await page.getByText('Enlace y código para escribir').click()
  return ((await page.locator('.hand .mono.small').textContent()) ?? '').trim()
}
