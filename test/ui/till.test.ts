/** The till in a real browser: input of codes, outcomes, and recovery. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { encodeQR } from 'qr'
import { typedGroups } from '../../src/client/typed-code.ts'
import type { Signer } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import {
  closeBrowser,
  keepNothing,
  picture,
  shownQr,
  showToCamera,
  type VisitOptions,
} from '../support/browser.ts'
import {
  call,
  createDefinition,
  mintOne,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { heroSizes } from '../support/hero.ts'
import { expectAccessible } from '../support/page-checks.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast, lookOnlyWhenAsked, stopClock } from '../support/page-states.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { closePages, openPage, startShop, tillOf } from '../support/shop-pages.ts'
import { until } from '../support/until.ts'

afterEach(closePages)

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

const { merchant, server, token, definition, brief, mint, statusOf } = await startShop()

/** A till that knows its shop. */
const openTill = (base = server.url, { before = '', ...options }: VisitOptions = {}) =>
  openPage(`${base}/caja`, { ...options, before: tillOf(npubOf(merchant.pubkey)) + before })

/** A till that was not set up. */
const openNewTill = (address = `${server.url}/caja`, options: VisitOptions = {}) =>
  openPage(address, options)

const yes = (page: Page) => page.getByRole('button', { name: 'Sí, es mi comercio' })

async function enter(page: Page, text: string) {
  await page.getByLabel('Código del cupón').fill(text)
  await page.getByRole('button', { name: 'Ver cupón' }).click()
}

const redeem = (page: Page) => page.locator('.till-view').getByRole('button', { name: 'Canjear' })
const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

/** The code of a coupon of another merchant. */
async function strangersCoupon(stranger = newSigner()): Promise<string> {
  const session = await openSession(server.url, stranger)
  return mint(server.url, await createDefinition(server.url, session), session)
}

/** Buttons in the part of the till that shows. */
const buttonsOf = (page: Page) => page.locator('.till-view').getByRole('button').allTextContents()

async function redemptionsOf(base: string, session: string): Promise<number> {
  const { json } = await call(base, '/api/coupons/redemptions', { token: session })
  return json.redemptions.length
}

/** Type as a scanner does: a key each 8 ms by its own clock, however busy this machine is. */
async function scan(page: Page, text: string) {
  const session = await page.context().newCDPSession(page)
  const from = Date.now() / 1000
  const strokes = [...text, 'Enter'].map((key, at) => {
    const stroke = { key, timestamp: from + at * 0.008 }
    return session.send('Input.dispatchKeyEvent', {
      type: 'keyDown',
      ...stroke,
      ...(key === 'Enter' ? { code: key, text: '\r', windowsVirtualKeyCode: 13 } : { text: key }),
    })
  })
  await Promise.all(strokes)
  await session.detach()
}

/** Records the tones of a page instead of playing them. */
const silent = `
  window.heard = []
  class Silent {
    currentTime = 0
    destination = {}
    resume() { return Promise.resolve() }
    createGain() {
      const gain = { setValueAtTime() {}, linearRampToValueAtTime() {} }
      return { gain, connect: (to) => to }
    }
    createOscillator() {
      const frequency = { set value(hertz) { window.heard.push(hertz) } }
      return { frequency, connect: (to) => to, start() {}, stop() {} }
    }
  }
  window.AudioContext = Silent
`

function heard(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { heard } = globalThis as unknown as { heard: number[] }
    return heard.splice(0).join(' ')
  })
}

// ── Input of codes

test('the camera reads a QR, and one tap redeems the coupon', async () => {
  const nonce = await mint()
  showToCamera(`${server.url}/c#${nonce}`)
  const { page, complaints } = await openTill()
  await page.getByRole('button', { name: 'Escanear con la cámara' }).click()
  await redeem(page).waitFor()
  expect(await statusOf(nonce)).toBe('minted')
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
  expect(await statusOf(nonce)).toBe('claimed')
  // The next one comes by camera, too; the phone still before it is not reported as redeemed already.
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.5)
  await checkPage(page, 'till-filming')
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
  expect(complaints).toEqual([])
})

test('a QR that is no coupon is reported, and the camera goes on', async () => {
  showToCamera('npub1mtkz48wps2wlzcea3edsy0yr5wa57ce6p58e40pyfkeegklxwx4qx06tql')
  const { page } = await openTill()
  await page.getByRole('button', { name: 'Escanear con la cámara' }).click()
  await page.getByText('Eso es una clave').waitFor()
  await checkPage(page, 'till-camera')
  await page.getByRole('button', { name: 'Cerrar cámara' }).click()
  await page.getByLabel('Código del cupón').waitFor()
})

test('a copied code is pasted by a button, which says why where nothing is pasted', async () => {
  const { page, context } = await openTill()
  const paste = page.getByRole('button', { name: 'Pegar' })
  const copy = async (text: string) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
  }
  await paste.click()
  await page.getByText('El navegador no dejó pegar').waitFor()
  await copy(' ')
  await paste.click()
  await page.getByText('No hay ningún texto copiado').waitFor()
  const typed = typedGroups(await mint())?.join(' ') ?? ''
  await copy(typed.toLowerCase().slice(0, -2))
  await paste.click()
  await page.getByText('le faltan 2 caracteres').waitFor()
  await checkPage(page, 'till-paste')
  await copy(`${typed}\n`)
  await paste.click()
  await redeem(page).waitFor()
  const without = await openTill(server.url, { before: 'delete Clipboard.prototype.readText;' })
  await without.page.getByRole('button', { name: 'Ver cupón' }).waitFor()
  expect(await without.page.getByRole('button', { name: 'Pegar' }).count()).toBe(0)
})

test('a keyboard scanner is read with the focus anywhere, and presses no button', async () => {
  const [first, second] = [await mint(), await mint()]
  const { page } = await openTill()
  await page.getByRole('button', { name: 'Ajustes' }).focus()
  await scan(page, `${server.url}/c#${first}`)
  await redeem(page).and(page.locator('[aria-disabled="false"]')).focus()
  // Another customer's code, with the focus on the button that redeems the first.
  await scan(page, second)
  await title(page, '10 % de descuento en toda tu compra').waitFor()
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
  expect([await statusOf(first), await statusOf(second)]).toEqual(['minted', 'claimed'])
})

test('green gives way when the code of a screenshot is scanned', async () => {
  const nonce = await mint()
  const { page } = await openTill(server.url, { before: silent })
  await scan(page, nonce)
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
  await heard(page)
  // A scanner may read twice, so the first seconds change nothing.
  await until('the till looks again', async () => {
    await scan(page, nonce)
    return (await title(page, 'Ya se había canjeado').count()) === 1
  })
  expect(await heard(page)).toBe('330 330')
  await checkEveryWidth(page, 'till-again')
})

/** A reader of codes that sees the text in `window.filmed`. */
const pretendReader = `
  window.filmed = ''
  window.BarcodeDetector = class {
    static getSupportedFormats() { return Promise.resolve(['qr_code']) }
    detect() { return Promise.resolve(window.filmed ? [{ rawValue: window.filmed }] : []) }
  }
`

/** Put a code before the pretended reader, for so many seconds of the video. */
async function film(page: Page, text: string, seconds: number) {
  const from = await page.evaluate((code) => {
    Object.assign(window, { filmed: code })
    return document.querySelector('video')?.currentTime ?? 0
  }, text)
  await page.waitForFunction(
    (end) => (document.querySelector('video')?.currentTime ?? end) >= end,
    from + seconds,
  )
}

test('the camera reads a redeemed coupon again once it has left the picture', async () => {
  const nonce = await mint()
  showToCamera('nada')
  const { page } = await openTill(server.url, { before: pretendReader })
  await page.getByRole('button', { name: 'Escanear con la cámara' }).click()
  await film(page, nonce, 0)
  await redeem(page).click()
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await page.locator('video').waitFor()
  // The phone of the customer is still there.
  await film(page, nonce, 1.5)
  expect(await page.locator('video').count()).toBe(1)
  await film(page, '', 2)
  await film(page, nonce, 0)
  await title(page, 'Ya se había canjeado').waitFor()
})

test('without https the page explains the missing camera, and reads a photo', async () => {
  const base = server.url.replace('127.0.0.1', 'tienda.test')
  const { page, complaints } = await openTill(base)
  await page.getByText('El navegador no presta la cámara').waitFor()
  await page.getByText('que active https').waitFor()
  await checkPage(page, 'till-http')
  const photo = (text: string) => ({
    name: 'foto.gif',
    mimeType: 'image/gif',
    buffer: Buffer.from(encodeQR(text, 'gif', { scale: 6 })),
  })
  const input = page.locator('input[type=file]')
  await input.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('nada') })
  await page.getByText('En esa foto no encontramos un QR').waitFor()
  await checkPage(page, 'till-photo-none')
  const nonce = await mint()
  await input.setInputFiles(photo(`${server.url}/c#${nonce}`))
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
  await page.getByRole('button', { name: 'Ajustes' }).click()
  await page.getByText('Falta https').first().waitFor()
  await checkPage(page, 'till-http-settings')
  // Chromium reports that this header needs https, too.
  expect(complaints.filter((text) => !text.includes('Cross-Origin-Opener-Policy'))).toEqual([])
})

// ── Outcomes

test('each outcome has its own word, colour, picture and tune, light and dark', async () => {
  const refreshed = await mint()
  const headers = { 'Idempotency-Key': newKey() }
  await call(server.url, '/api/coupons/refresh', { body: { nonce: refreshed }, headers })
  const claimed = await mint()
  await call(server.url, '/api/coupons/claim', { body: { nonce: claimed } })
  const voided = await mint()
  await call(server.url, `/api/coupons/${definition}/mints/${voided}`, { method: 'DELETE', token })
  const theirs = await strangersCoupon()
  const { page, complaints } = await openTill(server.url, { before: silent, width: 320 })
  const inBoth = async (name: string, look: () => Promise<void>) => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-theme="${colorScheme}"]`).waitFor()
      if (colorScheme === 'light') await checkPage(page, name)
      else {
        // The other colours; names and roles are the same.
        await expectAccessible(page, ['color-contrast'])
        await picture(page, `${name}-dark`)
      }
      await look()
    }
  }
  const fresh = await mint()
  await enter(page, fresh)
  await page.getByText('Es de este comercio').waitFor()
  await inBoth('till-preview', () => Promise.resolve())
  await heard(page)
  await redeem(page).click()
  const outcomes = [
    ['Canjeado', fresh],
    ['Ya se había canjeado', claimed],
    ['Cambió de manos', refreshed],
    ['Anulado', voided],
    ['No lo conocemos', 'AAAAAAAAAAAAAAAAAAAAAA'],
    ['Venció', brief],
    ['Este cupón es de otro comercio', theirs],
  ] as const
  const told: Record<'tune' | 'dark' | 'light' | 'drawing', Set<string>> = {
    ...{ tune: new Set(), dark: new Set(), light: new Set(), drawing: new Set() },
  }
  for (const [at, [word, nonce]] of outcomes.entries()) {
    if (at > 0) {
      await page.getByRole('button', { name: 'Otro cupón' }).click()
      if (nonce === brief) {
        await until('the coupon has expired', async () => (await statusOf(brief)) === 'expired')
      }
      await enter(page, nonce)
    }
    await title(page, word).waitFor()
    told.tune.add(await heard(page))
    await inBoth(`till-outcome-${at}`, async () => {
      const { theme, colour, drawing } = await page.evaluate(() => {
        const banner = document.querySelector('.banner') as HTMLElement
        const theme = document.documentElement.dataset.theme as 'dark' | 'light'
        const drawing = banner.querySelector('path')?.getAttribute('d') ?? ''
        return { theme, drawing, colour: getComputedStyle(banner).backgroundColor }
      })
      told[theme].add(colour)
      told.drawing.add(drawing)
    })
  }
  for (const sense of [told.tune, told.drawing]) expect(sense.size).toBe(outcomes.length)
  // Two of the outcomes are red: for neither anything is handed over.
  for (const sense of [told.dark, told.light]) expect(sense.size).toBe(outcomes.length - 1)
  expect(complaints).toEqual([])
})

test('a name from right to left stays isolated from the words beside it', async () => {
  const fields = { name: 'قهوة', benefit: { type: 'percent', percent: 10 } }
  const nonce = await mint(server.url, await createDefinition(server.url, token, fields))
  const { page } = await openTill()
  await enter(page, nonce)
  await redeem(page).click()
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  const line = page.locator('.lines .grow').getByText('قهوة')
  const name = await line.boundingBox()
  const moment = await page.locator('.lines .grow .small').boundingBox()
  expect(moment?.x ?? 0).toBeGreaterThan(name?.x ?? Number.POSITIVE_INFINITY)
})

test('the benefit is said once, with its cap, before and after the redemption', async () => {
  const cap = { amount: 5000, currency: 'ARS' }
  const benefit = { type: 'percent', percent: 10, cap }
  const fields = { name: '10 % de descuento en toda tu compra', benefit }
  const gift = { type: 'buyXgetY', buyProductD: 'medialuna', giftProductD: 'medialuna' }
  const worths = [
    [fields, '10 % de descuento en toda tu compra, hasta $5.000'],
    [{ name: 'Otra', benefit: gift }, 'Comprando medialuna, otro de regalo'],
  ] as const
  const { page } = await openTill()
  for (const [at, [definition, sentence]] of worths.entries()) {
    await enter(page, await mint(server.url, await createDefinition(server.url, token, definition)))
    await redeem(page).waitFor()
    const words = async () => {
      const text = await page.locator('.till-view').innerText()
      return text.replaceAll(/[\u2068\u2069]/g, '').replaceAll(/\s+/g, ' ')
    }
    expect((await words()).split(sentence)).toHaveLength(2)
    if (at === 0) expect((await words()).match(/10 %/g)).toHaveLength(1)
    await checkEveryWidth(page, `till-once-${at}`)
    await redeem(page).click()
    await title(page, 'Canjeado').waitFor()
    expect((await words()).split(sentence)).toHaveLength(2)
    if (at === 0) expect((await words()).match(/10 %/g)).toHaveLength(1)
    await page.getByRole('button', { name: 'Otro cupón' }).click()
  }
  const most = { type: 'fixed', amount: 1_000_000_000_000, currency: 'USD' }
  const large = await createDefinition(server.url, token, { name: 'Mucho', benefit: most })
  await enter(page, await mint(server.url, large))
  await redeem(page).waitFor()
  await heroSizes(page, '.outcome-title')
})

test('sounds can be switched off permanently', async () => {
  const { page } = await openTill(server.url, { before: silent })
  await page.getByRole('button', { name: 'Ajustes' }).click()
  await page.getByRole('checkbox', { name: 'Sonidos' }).uncheck()
  await page.reload()
  await enter(page, 'AAAAAAAAAAAAAAAAAAAAAA')
  await title(page, 'No lo conocemos').waitFor()
  expect(await heard(page)).toBe('')
})

/** The profile of a merchant (NIP-01), which anybody may fill in as they like. */
async function nameKey(signer: Signer, name: string, base = server.url) {
  const content = JSON.stringify({ name })
  const profile = signer.sign({ kind: 0, created_at: secondsNow(), tags: [], content })
  const { status } = await call(base, '/nostr/publish', { body: profile })
  expect(status).toBe(202)
}

test('a coupon of another shop is red and cannot be redeemed, even under the shop’s own name', async () => {
  await nameKey(merchant, 'Café Azul')
  const impostor = newSigner()
  await nameKey(impostor, 'Café Azul')
  const theirs = await strangersCoupon(impostor)
  const { page } = await openTill()
  await enter(page, await mint())
  await page.locator('.tone-good bdi').getByText('Café Azul').waitFor()
  await page.getByRole('button', { name: 'Cancelar' }).click()
  await enter(page, theirs)
  await title(page, 'Este cupón es de otro comercio').waitFor()
  await page.getByText('Se presenta con el mismo nombre que tu comercio').waitFor()
  await checkEveryWidth(page, 'till-foreign')
  expect(await buttonsOf(page)).toEqual(['Otro cupón'])
  // The outcome is the same after another scan, after typing and after a reload.
  await scan(page, theirs)
  await page.reload()
  await enter(page, theirs)
  await title(page, 'Este cupón es de otro comercio').waitFor()
  expect(await buttonsOf(page)).toEqual(['Otro cupón'])
  expect(await statusOf(theirs)).toBe('minted')
})

test('a till without a shop asks once, before the first redemption, and then redeems coupons of its own', async () => {
  const claims: unknown[] = []
  const { page } = await openNewTill()
  page.on('request', (request) => {
    if (request.url().endsWith('/claim')) claims.push(request.postDataJSON())
  })
  const nonce = await mint()
  await enter(page, nonce)
  await yes(page).waitFor()
  const key = page.getByText(npubOf(merchant.pubkey), { exact: true })
  expect(await key.isVisible()).toBe(false)
  await page.getByText('Ver clave').click()
  await key.waitFor()
  await checkEveryWidth(page, 'till-whose')
  expect(await redeem(page).count()).toBe(0)
  // The keyboard is enough: for the answer, then for the coupon.
  await yes(page).and(page.locator('[aria-disabled="false"]')).focus()
  await page.keyboard.press('Enter')
  await redeem(page).and(page.locator('[aria-disabled="false"]')).focus()
  await page.keyboard.press('Enter')
  await title(page, 'Canjeado').waitFor()
  expect(claims).toEqual([{ nonce, owner: merchant.pubkey }])
  // Kept on the device: nobody asks again.
  await page.reload()
  await enter(page, await mint())
  await redeem(page).waitFor()
  await page.getByText('Es de este comercio').waitFor()
})

test('a coupon that the cashier assigns to another shop stays unused, and the till asks again', async () => {
  const { page } = await openNewTill()
  const theirs = await strangersCoupon()
  await enter(page, theirs)
  await page.getByRole('button', { name: 'No, es de otro' }).click()
  await title(page, 'Este cupón es de otro comercio').waitFor()
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await enter(page, await mint())
  await yes(page).waitFor()
  expect(await statusOf(theirs)).toBe('minted')
})

test('the panel’s QR sets a till up: it asks for confirmation, and leaves the address bar', async () => {
  await nameKey(merchant, 'Café Azul')
  const { page } = await openNewTill(`${server.url}/caja#comercio=${npubOf(merchant.pubkey)}`)
  const dialog = page.getByRole('dialog', { name: '¿Esta caja es de Café Azul?' })
  await dialog.waitFor()
  expect(page.url()).toBe(`${server.url}/caja`)
  await checkEveryWidth(page, 'till-offered')
  // A QR is untrusted: a declined one changes nothing.
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => localStorage.getItem('cuponera:till:shops'))).toBeNull()
  await page.goto(`${server.url}/caja#comercio=${npubOf(merchant.pubkey)}`)
  await yes(page).click()
  await enter(page, await mint())
  await redeem(page).waitFor()
  // The QR of another shop asks, too, and explains the effect.
  const other = newSigner()
  await page.goto(`${server.url}/caja#comercio=${npubOf(other.pubkey)}`)
  await page.getByText('va a canjear los cupones de los dos').waitFor()
  await page.getByRole('button', { name: 'No, es de otro' }).click()
  // A text that is no key causes no question.
  await page.goto(`${server.url}/caja#comercio=npub1nada`)
  await page.reload()
  await title(page, 'Canjear un cupón').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('the shop of a till is changed in its settings, by typing or by a QR', async () => {
  const other = newSigner()
  const theirs = await strangersCoupon(other)
  const { page } = await openTill()
  await page.getByRole('button', { name: 'Ajustes' }).click()
  await page.getByRole('button', { name: /^Quitar / }).click()
  await page.getByText('Todavía ninguno').waitFor()
  await page.getByRole('button', { name: 'Agregar un comercio' }).click()
  const dialog = page.getByRole('dialog', { name: 'Agregar un comercio' })
  await dialog.getByLabel('clave del comercio').fill('nada')
  await page.keyboard.press('Enter')
  await dialog.getByText('Ahí no hay la clave de un comercio').waitFor()
  await checkEveryWidth(page, 'till-add-shop')
  const address = `${server.url}/caja#comercio=${npubOf(other.pubkey)}`
  await expectToast(page.getByText('Listo: esta caja canjea'), () =>
    dialog.locator('input[type=file]').setInputFiles({
      name: 'foto.gif',
      mimeType: 'image/gif',
      buffer: Buffer.from(encodeQR(address, 'gif', { scale: 6 })),
    }),
  )
  await dialog.waitFor({ state: 'detached' })
  await checkPage(page, 'till-shop-settings')
  await page.getByRole('button', { name: 'Canjear' }).click()
  await enter(page, theirs)
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await enter(page, await mint())
  await title(page, 'Este cupón es de otro comercio').waitFor()
})

test('a coupon that waits for an answer is refused as soon as the till gets its shop', async () => {
  const theirs = await strangersCoupon()
  const { page } = await openNewTill()
  await enter(page, theirs)
  await yes(page).waitFor()
  await page.getByRole('button', { name: 'Ajustes' }).click()
  await page.getByRole('button', { name: 'Agregar un comercio' }).click()
  await page.getByLabel('clave del comercio').fill(npubOf(merchant.pubkey))
  await page.keyboard.press('Enter')
  await page.getByText('Esta caja canjea los cupones de acá').waitFor()
  await scan(page, theirs)
  await title(page, 'Este cupón es de otro comercio').waitFor()
  expect(await buttonsOf(page)).toEqual(['Otro cupón'])
})

test('the merchant who authorised the till is its shop, without a question', async () => {
  const { page } = await openNewTill()
  await page.getByRole('button', { name: 'Emitir' }).click()
  await page.getByLabel('PIN (6 números o más)').fill('246810')
  await page.getByRole('button', { name: 'Hacer la clave' }).click()
  await title(page, 'Falta que el comercio autorice esta caja').waitFor()
  const npub = await page.locator('code').first().textContent()
  await lookOnlyWhenAsked(page)
  await call(server.url, '/api/coupons/minters', { body: { pubkey: npub }, token })
  await page.getByRole('button', { name: 'Ya me autorizaron' }).click()
  await page.getByRole('button', { name: /Medialuna de regalo/ }).waitFor()
  await page.getByRole('button', { name: 'Canjear' }).click()
  await enter(page, await strangersCoupon())
  await title(page, 'Este cupón es de otro comercio').waitFor()
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await enter(page, await mint())
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
})

test('without the service a signed voucher of another shop is not accepted either', async () => {
  const impostor = newSigner()
  const session = await openSession(server.url, impostor)
  const theirs = await mintOne(server.url, session, await createDefinition(server.url, session))
  const { page } = await openTill()
  await page.waitForFunction(() => localStorage.getItem('cuponera:manager'))
  await page.route('**/api/**', (route) => route.abort())
  await enter(page, JSON.stringify(theirs))
  await page.getByText('el cupón es de otro comercio. No lo aceptes').waitFor()
  await checkPage(page, 'till-offline-foreign')
  expect(await page.getByText('La firma es buena: este servicio lo emitió').count()).toBe(0)
  const { page: bare } = await openNewTill()
  await bare.waitForFunction(() => localStorage.getItem('cuponera:manager'))
  await bare.route('**/api/**', (route) => route.abort())
  await enter(bare, JSON.stringify(theirs))
  await bare.getByText('Esta caja todavía no sabe de qué comercio es').waitFor()
  await checkPage(bare, 'till-offline-unsure')
})

/** Change the screen, and press the new button as soon as it is there. */
async function pressAtOnce(page: Page, change: () => Promise<void>, selector: string) {
  const pressed = page.evaluate(
    (wanted) =>
      new Promise<void>((resolve) => {
        const watch = new MutationObserver(() => {
          const next = document.querySelector<HTMLButtonElement>(wanted)
          if (!next) return
          watch.disconnect()
          next.click()
          resolve()
        })
        watch.observe(document.body, { childList: true, subtree: true })
      }),
    selector,
  )
  await change()
  await pressed
}

test('a double tap redeems nothing, and does not close the outcome', async () => {
  const nonce = await mint()
  const { page } = await openNewTill()
  // In some layouts one button appears where the other was.
  await pressAtOnce(page, () => enter(page, nonce), '.whose .button')
  await page.getByRole('heading', { name: '¿Esta caja es de' }).waitFor()
  const noted = async () => {
    await yes(page).and(page.locator('[aria-disabled="false"]')).focus()
    await page.keyboard.press('Enter')
  }
  await pressAtOnce(page, noted, '.preview:has(.tone-good) .huge')
  await title(page, '10 % de descuento en toda tu compra').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Tab')
  await redeem(page).and(page.locator(':focus')).waitFor()
  await redeem(page).and(page.locator('[aria-disabled="false"]')).waitFor()
  expect(await statusOf(nonce)).toBe('minted')
  await pressAtOnce(page, () => redeem(page).click(), '.banner-next')
  await title(page, 'Canjeado').waitFor()
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await title(page, 'Canjear un cupón').waitFor()
})

/** The buttons that close a screen without an answer. */
const puttingOff = '.banner-wait .row .button:last-child'

test('a double tap does not close an unconfirmed redemption', async () => {
  const { page } = await openTill()
  await page.route('**/api/coupons/claim', (route) => route.abort())
  await enter(page, await mint())
  await pressAtOnce(page, () => redeem(page).click(), puttingOff)
  await title(page, 'Sin confirmar').waitFor()
  await page.getByRole('button', { name: 'Dejarlo para después' }).click()
  await title(page, 'Canjes sin confirmar').waitFor()
})

test('a double tap does not close the report of an unreachable service', async () => {
  const { page } = await openTill()
  await page.route('**/api/coupons/preview', (route) => route.abort())
  const nonce = await mint()
  await pressAtOnce(page, () => enter(page, nonce), puttingOff)
  await title(page, 'Sin conexión con el servicio').waitFor()
  await page.getByRole('button', { name: 'Cerrar' }).click()
  await title(page, 'Canjear un cupón').waitFor()
})

test('a coupon that another window is redeeming is left to it', async () => {
  const nonce = await mint()
  const { page } = await openTill()
  await enter(page, nonce)
  await redeem(page).waitFor()
  // As another window of this till does while it waits for the answer.
  await page.evaluate(
    (code) =>
      new Promise<void>((held) => {
        const done = new Promise<void>((free) => Object.assign(window, { free }))
        void navigator.locks.request(`till:${code}`, () => {
          held()
          return done
        })
      }),
    nonce,
  )
  await redeem(page).click()
  await title(page, 'Se está canjeando en otra ventana').waitFor()
  expect(await statusOf(nonce)).toBe('minted')
  await checkEveryWidth(page, 'till-other-page')
  await page.evaluate('window.free()')
  await page.getByRole('button', { name: 'Probar de nuevo' }).click()
  await redeem(page).click()
  await title(page, 'Canjeado').waitFor()
})

test('of two tills with the same coupon one redeems it, and the other shows when', async () => {
  const nonce = await mint()
  const tills = [await openTill(), await openTill()]
  for (const { page } of tills) {
    await enter(page, nonce)
    await redeem(page).waitFor()
  }
  await Promise.all(tills.map(({ page }) => redeem(page).click()))
  const words = await Promise.all(
    tills.map(({ page }) => page.locator('.banner:not(.banner-none) h1').textContent()),
  )
  expect(words.toSorted()).toEqual(['Canjeado', 'Ya se había canjeado'])
  const loser = tills[words.indexOf('Ya se había canjeado')]
  await loser?.page.getByText(/Se canjeó hoy a las? \d+:\d\d/).waitFor()
})

// ── Recovery

/** A server that comes back at the same address with what it had. */
async function startLasting() {
  const dataDir = newDirectory()
  const env = { RATE_LIMIT: 'off' }
  const lasting = await startServer({ dataDir, env })
  const session = await openSession(lasting.url, merchant)
  const id = await createDefinition(lasting.url, session, { name: 'Café' })
  const port = new URL(lasting.url).port
  return {
    server: lasting,
    session,
    nonce: await mint(lasting.url, id, session),
    again: (more: Record<string, string> = {}) =>
      startServer({ dataDir, env: { ...env, PORT: port, ...more } }),
  }
}

test('after a kill behind the redemption, a reloaded page asks again and it counts once', async () => {
  const { server: lasting, session, nonce, again } = await startLasting()
  const { page, complaints } = await openTill(lasting.url, { worker: true })
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null))
  await enter(page, nonce)
  await redeem(page).waitFor()
  await page.route(
    '**/api/coupons/claim',
    async (route) => {
      await route.fetch()
      await lasting.kill()
      await route.abort()
    },
    { times: 1 },
  )
  await redeem(page).click()
  await title(page, 'Sin confirmar').waitFor()
  await checkPage(page, 'till-lost')
  // The clock of the page stands still: the till never asks again by itself, so that the tap does.
  await stopClock(page)
  // The till opens without the server, and knows the redemption that is open.
  await page.reload()
  await title(page, 'Sin confirmar').waitFor()
  const { url } = await again()
  // Long enough for its buttons to take taps, too short for its first retry.
  await page.clock.runFor(900)
  await page.getByRole('button', { name: 'Probar de nuevo' }).click()
  await title(page, 'Canjeado').waitFor()
  await page.clock.resume()
  expect(await redemptionsOf(url, session)).toBe(1)
  await page.reload()
  await title(page, 'Canjear un cupón').waitFor()
  expect(complaints).toEqual([])
})

test('after a kill before the redemption, it happens by itself, once, when the server is back', async () => {
  const { server: lasting, session, nonce, again } = await startLasting()
  const { page } = await openTill(lasting.url)
  await enter(page, nonce)
  await redeem(page).waitFor()
  await lasting.kill()
  await redeem(page).click()
  await title(page, 'Sin confirmar').waitFor()
  const { url } = await again()
  await title(page, 'Canjeado').waitFor()
  expect(await redemptionsOf(url, session)).toBe(1)
})

test('a postponed redemption is kept, and settled by a tap', async () => {
  const nonce = await mint()
  const { page } = await openTill()
  await enter(page, nonce)
  await page.route('**/api/coupons/claim', (route) => route.abort())
  await redeem(page).click()
  await title(page, 'Sin confirmar').waitFor()
  // The next customer does not wait for it, either.
  await scan(page, await mint())
  await title(page, '10 % de descuento en toda tu compra').waitFor()
  await page.getByRole('button', { name: 'Cancelar' }).click()
  await page.getByRole('button', { name: 'Confirmar Medialuna de regalo' }).click()
  await page.getByRole('button', { name: 'Dejarlo para después' }).click()
  await title(page, 'Canjes sin confirmar').waitFor()
  await checkPage(page, 'till-pending')
  await page.unrouteAll()
  // A reload resumes nothing: the customer may have gone.
  await page.reload()
  await page.getByRole('button', { name: 'Confirmar Medialuna de regalo' }).click()
  await title(page, 'Canje confirmado').waitFor()
  await page.getByText('Si ya entregaste el beneficio, no lo entregues de nuevo').waitFor()
  await checkEveryWidth(page, 'till-settled')
  await page.getByRole('button', { name: 'Otro cupón' }).click()
  await title(page, 'Últimos en esta caja').waitFor()
  expect(await title(page, 'Canjes sin confirmar').count()).toBe(0)
})

test('without the service a voucher is checked by its signature, and not redeemed', async () => {
  const voucher = await mintOne(server.url, token, definition)
  const forged = { ...voucher, voucher: { ...voucher.voucher, created_at: 1 } }
  const { page } = await openTill()
  // The key is pinned from when the service could be asked.
  await page.waitForFunction(() => localStorage.getItem('cuponera:manager'))
  await page.route('**/api/**', (route) => route.abort())
  await enter(page, JSON.stringify(voucher))
  await title(page, 'Sin conexión con el servicio').waitFor()
  await page.getByText('La firma es buena').waitFor()
  await page.getByText('NO se canjeó').waitFor()
  expect(await redeem(page).count()).toBe(0)
  await checkPage(page, 'till-offline')
  await page.getByRole('button', { name: 'Cerrar' }).click()
  await enter(page, JSON.stringify(forged))
  await page.getByText('La firma NO es buena').waitFor()
  await page.getByRole('button', { name: 'Cerrar' }).click()
  await enter(page, voucher.nonce)
  await page.getByText('Este código no trae la firma').waitFor()
  // Back in reach it goes on by itself.
  await page.unrouteAll()
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await redeem(page).waitFor()
  expect(await statusOf(voucher.nonce)).toBe('minted')
})

test('the banner goes within two seconds of the return of the connection', async () => {
  const { page } = await openTill()
  await stopClock(page)
  await page.route('**/api/**', (route) => route.abort())
  await page.reload()
  const banner = page.getByText('No se puede canjear ni emitir hasta que vuelva')
  await banner.waitFor()
  await page.unrouteAll()
  // The clock of the page stands still but for these two seconds.
  await page.clock.runFor(2000)
  await banner.waitFor({ state: 'detached' })
})

// ── Issuing

test('a till says the benefit once where the name of its coupon is that benefit', async () => {
  const shop = await openSession(server.url, newSigner())
  await createDefinition(server.url, shop, { name: '10 % de descuento en toda tu compra' })
  const { page } = await openTill()
  await page.getByRole('button', { name: 'Emitir' }).click()
  await page.getByLabel('PIN (6 números o más)').fill('246810')
  await page.getByRole('button', { name: 'Hacer la clave' }).click()
  await title(page, 'Falta que el comercio autorice esta caja').waitFor()
  const npub = await page.locator('code').first().textContent()
  await call(server.url, '/api/coupons/minters', { body: { pubkey: npub }, token: shop })
  await page.getByRole('button', { name: 'Ya me autorizaron' }).click()
  const benefit = page.locator('main').getByText('10 % de descuento en toda tu compra')
  const button = page.locator('.mint-button:enabled')
  await button.waitFor()
  expect(await benefit.count()).toBe(1)
  await button.click()
  await title(page, 'Listo para el cliente').waitFor()
  expect((await page.locator('.issued').innerText()).split('toda tu compra')).toHaveLength(2)
})

test('a till makes its key, the merchant authorises it, and a tap issues a coupon', async () => {
  const { page, complaints } = await openTill()
  await page.getByRole('button', { name: 'Emitir' }).click()
  await page.getByLabel('PIN (6 números o más)').waitFor()
  expect(await page.getByText('no guarda nada').count()).toBe(0)
  await checkPage(page, 'till-key')
  await page.getByLabel('PIN (6 números o más)').fill('246810')
  // A key that could not sign in is reported, and kept for the next try.
  await page.route('**/api/auth/session', (route) => route.abort(), { times: 1 })
  await page.getByRole('button', { name: 'Hacer la clave' }).click()
  await page.getByText('No pudimos hablar con el servicio').waitFor()
  // A PIN typed as fast as a scanner, with Enter, is no scan.
  await page.getByLabel('PIN (6 números o más)').focus()
  await scan(page, '246810')
  await title(page, 'Falta que el comercio autorice esta caja').waitFor()
  await checkPage(page, 'till-unauthorised')
  const npub = await page.locator('code').first().textContent()
  await lookOnlyWhenAsked(page)
  await call(server.url, '/api/coupons/minters', { body: { pubkey: npub }, token })
  await page.getByRole('button', { name: 'Ya me autorizaron' }).click()
  const button = page.getByRole('button', { name: /Medialuna de regalo/ })
  await button.waitFor()
  await checkPage(page, 'till-mintable')

  // A lost answer costs no second coupon.
  const count = async () => {
    const { json } = await call(server.url, '/api/coupons', { token })
    return json.coupons.find(({ id }: { id: string }) => id === definition).minted
  }
  const before = await count()
  await page.route(
    '**/api/coupons/mint',
    async (route) => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await button.click()
  await page.getByRole('alert').waitFor()
  await button.click()
  await title(page, 'Listo para el cliente').waitFor()
  expect(await count()).toBe(before + 1)
  // A button of a coupon appears where the closing one was.
  const done = page.getByRole('button', { name: 'Listo', exact: true })
  await pressAtOnce(page, () => done.click(), '.mint-button')
  await button.and(page.locator(':enabled')).waitFor()
  expect(await count()).toBe(before + 1)
  await pressAtOnce(page, () => button.click(), '.issued .button.huge')
  await done.waitFor()
  expect(await count()).toBe(before + 2)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor()
    expect(await shownQr(page)).toMatch(new RegExp(`^${server.url}/c#[\\w-]{22}$`))
  }
  expect(await page.locator('.issued .button.primary').allTextContents()).toEqual([
    'Guardar imagen',
  ])
  await checkPage(page, 'till-issued')

  // The printed page contains only the ticket, as wide as the roll.
  await page.evaluate(() => {
    window.print = () => {
      document.documentElement.dataset.printed = document.querySelector('.paper')?.className
    }
  })
  for (const [width, points] of [
    ['58', 164],
    ['80', 226],
  ] as const) {
    await page.getByRole('button', { name: `Ticket de ${width} mm` }).click()
    await page.locator(`html[data-printed$="paper-${width}"]`).waitFor()
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
    const pages = [...pdf.matchAll(/\/MediaBox\s*\[\s*0 0 (\d+)/g)]
    expect(pages).toHaveLength(1)
    // PDF sizes are in points, those of the browser in pixels.
    expect(Math.abs(Number(pages[0]?.[1]) - points)).toBeLessThanOrEqual(1)
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
    await page.locator(`.paper-${width}`).waitFor({ state: 'detached' })
  }

  // The screen is the only copy: a reload keeps it, handing it over forgets it.
  await page.reload()
  await page.getByRole('button', { name: 'Emitir' }).click()
  await title(page, 'Listo para el cliente').waitFor()
  await page.getByRole('button', { name: 'Listo' }).click()
  await button.waitFor()

  // An ended session asks for the PIN, and continues the action.
  const over = { status: 401, json: { code: 'auth-session-expired', error: 'Venció.' } }
  await page.route('**/api/coupons/mintable', (route) => route.fulfill(over), { times: 1 })
  await page.reload()
  await page.getByRole('button', { name: 'Emitir' }).click()
  const dialog = page.getByRole('dialog', { name: 'Abrir con el PIN' })
  await dialog.getByLabel('PIN (6 números o más)').fill('246810')
  await checkPage(page, 'till-pin-again')
  await dialog.getByRole('button', { name: 'Abrir con el PIN' }).click()
  await button.waitFor()
  expect(await dialog.count()).toBe(0)
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))
  expect(kept).toMatch(/eyJ/)
  expect(kept).not.toContain('nonce')
  expect(kept).toContain('ncryptsec1')
  expect(kept).not.toContain('nsec1')

  // Locked, it opens with the PIN alone.
  await page.getByRole('button', { name: 'Cerrar la caja' }).click()
  // The service is not told: the token is gone from the device.
  const left = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))
  expect(left).not.toMatch(/eyJ/)
  await page.getByLabel('PIN (6 números o más)').fill('000000')
  await page.getByRole('button', { name: 'Abrir con el PIN' }).click()
  await page.getByText('Ese PIN no es').waitFor()
  await page.getByRole('button', { name: 'Ajustes' }).click()
  await title(page, 'Clave de esta caja').waitFor()
  await checkPage(page, 'till-settings')
  expect(complaints).toEqual([])
})

/** Invalid data where the pages store theirs, by another version or another program. */
const spoilt = `
  for (const name of ['key:till', 'till:pending', 'till:recent', 'till:shops', 'merchants']) {
    localStorage.setItem('cuponera:' + name, '{"half')
  }
  for (const name of ['till:session', 'till:issued']) sessionStorage.setItem('cuponera:' + name, '7')
`

test('an extension signs for a till, too, with invalid data in its storage', async () => {
  const { page } = await openTill(server.url, { before: spoilt })
  await page.exposeFunction('sign', (event: Parameters<typeof merchant.sign>[0]) =>
    merchant.sign(event),
  )
  await page.evaluate((pubkey) => {
    const { sign } = window as unknown as { sign: (event: unknown) => Promise<unknown> }
    const nostr = { getPublicKey: () => Promise.resolve(pubkey), signEvent: sign }
    Object.assign(window, { nostr })
  }, merchant.pubkey)
  await page.getByRole('button', { name: 'Emitir' }).click()
  await page.getByRole('button', { name: 'Entrar con la extensión de Nostr' }).click()
  await page.getByRole('button', { name: /Medialuna de regalo/ }).waitFor()
})

test('where the browser stores nothing, the key comes with a warning that it is lost with the page', async () => {
  const { page } = await openTill(server.url, { before: keepNothing })
  await page.getByRole('button', { name: 'Emitir' }).click()
  const lost = page.getByRole('alert').getByText('La clave se pierde al cerrar')
  await lost.waitFor()
  await checkPage(page, 'till-key-fleeting')
  await page.getByLabel('PIN (6 números o más)').fill('246810')
  await page.getByRole('button', { name: 'Hacer la clave' }).click()
  // Before the merchant authorises it, too.
  await title(page, 'Falta que el comercio autorice esta caja').waitFor()
  await lost.waitFor()
})

// ── The application

test('the till can be installed, and stores its shell but no answer of the service', async () => {
  const { page, context } = await openTill(server.url, { worker: true })
  const session = await context.newCDPSession(page)
  const { errors, data } = await session.send('Page.getAppManifest')
  expect(errors).toEqual([])
  const manifest = JSON.parse(data ?? '')
  expect(manifest).toMatchObject({ start_url: '/caja', scope: '/caja', display: 'standalone' })
  for (const { src, sizes } of manifest.icons) {
    const picture = await fetch(`${server.url}${src}`)
    expect(picture.headers.get('content-type')).toStartWith('image/')
    const png = Buffer.from(await picture.arrayBuffer())
    if (sizes !== 'any') expect(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`).toBe(sizes)
  }
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null))
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
  // A private window installs nothing, and the visitors of these tests are private windows.
  const obstacles = installabilityErrors.map(({ errorId }) => errorId)
  expect(obstacles.filter((id) => id !== 'in-incognito')).toEqual([])
  await enter(page, await mint())
  await redeem(page).waitFor()
  const kept = await page.evaluate(async () => {
    const names = await caches.keys()
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
    return requests.flat().map(({ url }) => new URL(url).pathname)
  })
  expect(kept.filter((path) => !path.startsWith('/ui/')).toSorted()).toEqual(['/c', '/caja'])
  await context.setOffline(true)
  await page.reload()
  await title(page, 'Canjear un cupón').waitFor()
  await page.getByText('Sin conexión con el servicio').waitFor()
  await checkPage(page, 'till-shell')
})

test('a cached page is replaced by the one of a restarted server as soon as that answers', async () => {
  const { server: lasting, again } = await startLasting()
  const { page } = await openTill(lasting.url, { worker: true })
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null))
  const link = () => page.evaluate(() => document.documentElement.dataset.couponOrigin ?? null)
  await lasting.stop()
  await page.reload()
  await title(page, 'Canjear un cupón').waitFor()
  expect(await link()).toBeNull()
  await again({ PUBLIC_URL: 'https://nuevo.example' })
  // The page does not wait for a slow service: the cached page shows once more.
  while ((await link()) === null) {
    await page.reload()
    await title(page, 'Canjear un cupón').waitFor()
  }
  expect(await link()).toBe('https://nuevo.example')
})

test('the till speaks English, too, and breaks words that are wider than a small phone', async () => {
  const { page } = await openTill(server.url, { locale: 'en-US', width: 320 })
  await title(page, 'Redeem a coupon').waitFor()
  await checkPage(page, 'till-ready-english')
  const wide = 'x'.repeat(80)
  const benefit = { type: 'freeItems', items: [{ d: `${wide}${wide}`.slice(0, 128), qty: 2 }] }
  const fields = { name: wide, description: wide.repeat(6), benefit }
  const nonce = await mint(server.url, await createDefinition(server.url, token, fields))
  await page.getByLabel('Coupon code').fill(nonce)
  await page.getByRole('button', { name: 'Look it up' }).click()
  await page.getByRole('button', { name: 'Redeem' }).nth(1).waitFor()
  await checkPage(page, 'till-wide')
  await page.goto(`${server.url}/c#${nonce}`)
  await page.getByText('Not used').waitFor()
  await checkPage(page, 'coupon-wide')
  await page.goto(`${server.url}/caja`)
  expect(await page.locator('html').getAttribute('lang')).toBe('en-GB')
  await page.getByRole('button', { name: 'ES: Pasar a español' }).click()
  await title(page, 'Canjear un cupón').waitFor()
  expect(await page.title()).toEndWith(' · Caja')
  await page.reload()
  await title(page, 'Canjear un cupón').waitFor()
})
