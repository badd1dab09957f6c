/** Three ways to sign in, and the end of a session while a person works. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { finalizeEvent, getPublicKey } from 'nostr-tools/pure'
import type { Page } from 'playwright-core'
import { closeBrowser, keepNothing, showToCamera, type Visit, visit } from '../support/browser.ts'
import { chooseKey, makeKey, next, pin } from '../support/merchant-page.ts'
import { checkEveryWidth, checkPage } from '../support/page-looks.ts'
import { expectToast } from '../support/page-states.ts'
import { startRemoteSigner } from '../support/remote-signer.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let page: Page
let opened: Visit

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})

afterEach(async () => {
  expect(opened.complaints).toEqual([])
  await opened.context.close()
})

afterAll(async () => {
  await closeBrowser()
  await cleanUp()
})

async function open(before?: string): Promise<void> {
  opened = await visit(`${server.url}/panel`, { ...(before && { before }) })
  page = opened.page
}

const press = (name: string | RegExp) =>
  page.getByRole('button', { name, exact: name === 'Entrar' }).click()
/** Once the last form is at work, submits it again or cancels its dialog. */
const whileBusy = (act: 'cancel' | 'submit') =>
  page
    .locator('form')
    .last()
    .evaluate((form, act) => {
      const observer = new MutationObserver(() => {
        if (!form.querySelector('[aria-busy="true"]')) return
        observer.disconnect()
        const target = act === 'submit' ? form : form.closest('dialog')
        target?.dispatchEvent(new Event(act, { cancelable: true }))
      })
      observer.observe(form, { subtree: true, attributes: true })
    }, act)
const inside = () => page.getByRole('heading', { name: 'Primeros pasos' }).waitFor()

/** An extension (NIP-07) that signs in this process, with a key no page sees. */
async function withExtension(secret: Uint8Array, asked: { times: number; refuse: boolean }) {
  await opened.context.exposeFunction('testSign', (event: never) => {
    asked.times++
    return asked.refuse ? null : finalizeEvent(event, secret)
  })
  await page.addInitScript((pubkey) => {
    type Sign = (event: unknown) => Promise<unknown>
    const { testSign } = globalThis as unknown as { testSign: Sign }
    const nostr = {
      getPublicKey: async () => pubkey,
      async signEvent(event: unknown) {
        const signed = await testSign(event)
        if (!signed) throw new Error('User rejected')
        return signed
      },
    }
    Object.assign(globalThis, { nostr })
  }, getPublicKey(secret))
  await page.reload()
}

/** A way to sign in for people who know Nostr: it stands behind the one that a new merchant takes. */
async function choose(way: RegExp): Promise<void> {
  expect(await page.getByRole('button', { name: way }).count()).toBe(0)
  await page.getByText('Otras formas (Nostr)').click()
  await press(way)
}

test('a browser extension signs once for a session', async () => {
  await open()
  const asked = { times: 0, refuse: true }
  const secret = randomBytes(32)
  await withExtension(secret, asked)
  await choose(/^Con mi extensión/)
  await page.getByText('No se firmó').waitFor()
  asked.refuse = false
  await press('Entrar')
  await inside()
  expect(asked.times).toBe(2)
  await page.reload()
  await inside()
  expect(asked.times).toBe(2)
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  expect(asked.times).toBe(3)
})

test('the page reports a missing extension', async () => {
  await open()
  await page.getByText('Otras formas (Nostr)').click()
  await checkPage(page, 'panel-other-ways')
  await press(/^Con mi extensión/)
  await press('Entrar')
  await page.getByText('no tiene una extensión de Nostr').waitFor()
  await checkEveryWidth(page, 'panel-extension')
})

test('a remote signer scans our address, and signs over the relay of this service', async () => {
  await open()
  // The code of this way loads now, and the network is away for a moment.
  await page.route('**/ui/part-*.js', (route) => route.abort())
  await choose(/^Con mi firmador/)
  await page.getByText('Algo salió mal').waitFor()
  await page.unroute('**/ui/part-*.js')
  await page.reload()
  await choose(/^Con mi firmador/)
  await page.getByText('Esperamos a que tu firmador lea el código').waitFor()
  await page.getByText(/Quedan 1\d\d s/).waitFor()
  await checkEveryWidth(page, 'panel-remote')
  // The button copies the text of the QR.
  await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await expectToast(page.getByText('Copiado', { exact: true }), () => press('Copiar la dirección'))
  const address = await page.evaluate(() => navigator.clipboard.readText())
  const uri = new URL(address)
  expect([uri.protocol, uri.searchParams.get('relay')]).toEqual([
    'nostrconnect:',
    `${server.url.replace('http', 'ws')}/relay`,
  ])
  await using signer = await startRemoteSigner(`${server.url.replace('http', 'ws')}/relay`)
  await signer.scan(address)
  await inside()
  await press('Ajustes')
  await page.getByText('Ver clave').click()
  await page.getByText(signer.npub).waitFor()
})

test('the page waits three minutes for a remote signer, then reports that nobody answered', async () => {
  await open()
  await page.clock.install()
  await page.reload()
  const connected = page
    .waitForEvent('websocket')
    .then((socket) => socket.waitForEvent('framereceived'))
  await choose(/^Con mi firmador/)
  const left = page.getByText(/Quedan \d+ s/)
  await left.waitFor()
  // By the clock of the page, a relay that has not answered yet would be too late.
  await connected
  // From here the test moves the clock of the page.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000)
  // The countdown may not have begun: its page draws by that clock, too.
  await page.clock.runFor(3000)
  await page.getByText(/Quedan (1[01]\d|120|\d\d) s/).waitFor()
  const seconds = Number(/\d+/.exec((await left.textContent()) ?? '')?.[0])
  await page.clock.fastForward((seconds - 3) * 1000)
  // The text is as old as the last tick, so that up to two seconds less are left.
  await page.getByText(/Quedan [123] s/).waitFor()
  await page.clock.fastForward(4000)
  await page.getByText('Esperamos tres minutos y nadie respondió').waitFor()
})

test('a bunker address connects, also when the signer refuses the first request', async () => {
  await open()
  await using signer = await startRemoteSigner(`${server.url.replace('http', 'ws')}/relay`)
  await choose(/^Con mi firmador/)
  await page.getByLabel('Dirección bunker://').fill('bunker://nada')
  await press('Conectar')
  await page.getByText('no es una dirección bunker://').waitFor()
  await page.getByLabel('Dirección bunker://').fill(signer.address)
  signer.refuseNext()
  await press('Conectar')
  await page.getByText('No se firmó').waitFor()
  await press('Conectar')
  await inside()
  // The tab finds its signer again.
  await page.reload()
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  // Invalid stored data is ignored, and the page asks.
  for (const spoilt of ['{"half', '{"client":"no key","pubkey":"none","relays":["ws://x"]}']) {
    await page.evaluate((text) => sessionStorage.setItem('cuponera:remote-signer', text), spoilt)
    await page.reload()
    await press('Ajustes')
    await press('Publicar de nuevo')
    await page.getByRole('dialog', { name: 'Firmá de nuevo para seguir' }).waitFor()
  }
})

test('an imported key, here in hex, is stored encrypted, and a wrong PIN is reported', async () => {
  await open()
  await press('Ya tengo una clave')
  await checkEveryWidth(page, 'panel-bring-key')
  await page.getByLabel('Tu clave').fill('nsec1nada')
  await page.getByLabel('Elegí un PIN').fill('123')
  // It is typed once, so it shows until the person hides it.
  const typed = page.getByLabel('Elegí un PIN')
  expect(await typed.getAttribute('type')).toBe('text')
  await press('Ocultar')
  expect(await typed.getAttribute('type')).toBe('password')
  await press('Mostrar')
  await press('Entrar')
  await page.getByText('le falta una parte').waitFor()
  await page
    .getByLabel('Tu clave')
    .fill('67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa')
  await press('Entrar')
  await page.getByText('El PIN lleva 6 números o más').waitFor()
  await page.getByLabel('Elegí un PIN').fill(pin)
  await press('Entrar')
  await inside()
  await press('Ajustes')
  await page.getByText('Ver clave').click()
  await page.getByText('npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg').waitFor()
  await press('Salir')
  await page.getByLabel('PIN').fill('999999')
  await press('Entrar')
  await page.getByText('Ese PIN no es').waitFor()
})

test('the backup of the panel brings the key back: pasted whole, chosen, dropped, as a photo of its QR, by camera', async () => {
  await open()
  await makeKey(page)
  await press('Ajustes')
  const download = page.waitForEvent('download')
  await press('Guardar la copia')
  const backup = await Bun.file(await (await download).path()).text()
  expect(backup).toMatch(
    /Qué es: .*\s+Dónde se abre: http.*\/panel\s+Cómo: .*«Ya tengo una clave o una copia»/,
  )
  await page.getByText('La copia como texto y como QR').click()
  await checkEveryWidth(page, 'panel-backup')
  const photo = await page.locator('.backup .qr').screenshot()
  const publicKey = await page.getByText(/^npub1/).textContent()

  const chosen = (name: string, mimeType: string, content: string | Buffer) =>
    page.getByLabel('Abrir el archivo o la foto').setInputFiles({
      name,
      mimeType,
      buffer: Buffer.from(content),
    })
  const ways: (() => Promise<unknown>)[] = [
    async () => {
      const field = page.getByLabel('Tu clave o tu copia')
      expect(await field.getAttribute('type')).toBe('password')
      // A key that a mail broke is found by its line breaks, which the field itself would lose.
      const key = /ncryptsec1\w+/.exec(backup)?.[0] ?? ''
      const broken = backup.replace(key, `${key.slice(0, 76)}=\r\n${key.slice(76)}`)
      await field.evaluate((shown, text) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text', text)
        const options = { clipboardData, bubbles: true, cancelable: true }
        shown.dispatchEvent(new ClipboardEvent('paste', options))
      }, broken)
      expect(await field.inputValue()).toBe(key)
    },
    async () => {
      await chosen('otra.txt', 'text/plain', 'nada')
      await page.getByText('En ese archivo no hay una clave').waitFor()
      await chosen('cuponera-clave.txt', 'text/plain', backup)
    },
    async () => {
      // The part that reads photos comes with the first one.
      await page.context().setOffline(true)
      await chosen('qr.png', 'image/png', photo)
      await page.getByText('Actualizá la página').waitFor()
      await page.context().setOffline(false)
      await page.reload()
      await press('Ya tengo una clave')
      await chosen('qr.png', 'image/png', photo)
    },
    async () => {
      // In capitals a QR is smaller, so that it fits the picture of the camera.
      showToCamera((/ncryptsec1\w+/.exec(backup)?.[0] ?? '').toUpperCase())
      await press('Escanear el QR')
    },
    async () => {
      const dataTransfer = await page.evaluateHandle((text) => {
        const dragged = new DataTransfer()
        dragged.items.add(new File([text], 'cuponera-clave.txt', { type: 'text/plain' }))
        return dragged
      }, backup)
      await page.locator('form').dispatchEvent('drop', { dataTransfer })
    },
  ]
  for (const [at, give] of ways.entries()) {
    await press('Salir')
    await press('Olvidar esta clave')
    await page.getByRole('dialog').getByRole('button', { name: 'Olvidar esta clave' }).click()
    await press('Ya tengo una clave')
    await give()
    if (at > 0) await page.getByText('Leímos tu copia').waitFor()
    if (at === 1) await checkEveryWidth(page, 'panel-bring-backup')
    await page.getByLabel('Lo que abre esta copia').fill(pin)
    await press('Entrar')
    await inside()
    await press('Ajustes')
    await page.getByText('Ver clave').click()
    await page.getByText(publicKey ?? '').waitFor()
  }
})

test('a PIN is changed in the account, and wrong PINs make the next try wait', async () => {
  await open()
  const threads: string[] = []
  page.on('worker', (thread) => threads.push(new URL(thread.url()).pathname))
  await makeKey(page)
  // One, which began when the PIN was typed.
  expect(threads).toEqual([expect.stringMatching(/^\/ui\/key-worker-/)])
  await press('Ajustes')
  await press('Cambiar PIN')
  const dialog = page.getByRole('dialog', { name: 'Cambiar PIN' })
  await checkEveryWidth(page, 'panel-change-pin')
  const change = async (old: string, fresh: string) => {
    await dialog.getByLabel('Tu PIN de ahora').fill(old)
    await dialog.getByLabel('El PIN nuevo').fill(fresh)
    // By keyboard.
    await page.keyboard.press('Enter')
  }
  await change('000000', '135791')
  await dialog.getByText('Ese PIN no es').waitFor()
  await checkEveryWidth(page, 'panel-change-pin-wrong')
  // Escape meanwhile does not close it: it would not say whether the PIN changed.
  await whileBusy('cancel')
  await change(pin, '135791')
  await dialog.getByText('Listo: tu PIN cambió').waitFor()
  await checkEveryWidth(page, 'panel-change-pin-done')
  await press('Entendido')

  await press('Salir')
  const tryPin = async (typed: string) => {
    await page.getByLabel('PIN', { exact: true }).fill(typed)
    await press('Entrar')
  }
  // The old PIN is a wrong one now.
  for (const [at, wrong] of [pin, '000000', '000001'].entries()) {
    // A second submit meanwhile is no second try.
    if (at === 0) await whileBusy('submit')
    await tryPin(wrong)
    await page.getByText(at < 2 ? 'Probá de nuevo.' : /Probá de nuevo en \d segundos?/).waitFor()
    await page.locator('button[type="submit"][aria-busy="false"]').waitFor()
    const tries = await page.evaluate(() => localStorage.getItem('cuponera:key-tries:merchant'))
    expect(JSON.parse(tries ?? '')).toMatchObject({ wrong: at + 1 })
  }
  // The wait is made long, so that a slow machine does not outlast it.
  const ago = (seconds: number) =>
    page.evaluate(
      (at) => {
        const place = 'cuponera:key-tries:merchant'
        const tries = JSON.parse(localStorage.getItem(place) ?? '')
        localStorage.setItem(place, JSON.stringify({ ...tries, wrong: 9, at }))
      },
      Date.now() - seconds * 1000,
    )
  await ago(0)
  await page.reload()
  await tryPin('135791')
  await page.getByText(/Esperá [45] minutos/).waitFor()
  await checkEveryWidth(page, 'panel-pin-wait')
  await press('Me olvidé el PIN')
  await page.getByText('Nadie puede recuperar tu PIN').waitFor()
  await checkEveryWidth(page, 'panel-pin-forgotten')
  await press('Entrar de otra forma')
  await ago(400)
  await tryPin('135791')
  await inside()

  // A second copy, made by the PIN, gives the key back without it.
  await press('Ajustes')
  await press('Hacer la segunda copia')
  const second = page.getByRole('dialog', { name: 'Segunda copia' })
  await second.getByLabel('¿Con qué la querés abrir?').selectOption('password')
  await second.getByLabel('Tu contraseña').fill('corta')
  await second.getByRole('button', { name: 'Hacer la segunda copia' }).click()
  await second.getByText('Es muy corta').waitFor()
  await checkEveryWidth(page, 'panel-second-copy')
  await second.getByLabel('¿Con qué la querés abrir?').selectOption('words')
  await second.getByLabel('Tu PIN de ahora').fill('135791')
  await page.keyboard.press('Enter')
  await second.getByText('Anotá estas seis palabras').waitFor()
  await checkEveryWidth(page, 'panel-second-copy-words')
  const words = await second.getByRole('list').getByRole('listitem').allTextContents()
  expect(words).toHaveLength(6)
  await second.getByRole('button', { name: 'Listo' }).click()
  await second.getByText('Todavía no guardaste el archivo').waitFor()
  const download = page.waitForEvent('download')
  await second.getByRole('button', { name: 'Guardar el archivo' }).click()
  const file = await (await download).path()
  const copy = await Bun.file(file).text()
  expect(copy).toMatch(/Qué es: .*\s+Dónde se abre: http.*\/panel\s+Cómo: .*seis palabras/)
  // The sentences of the file may have one of the words by chance, but no two that follow each other.
  const sentences = await Bun.file(join(import.meta.dir, '../../src/ui/words/key.ts')).text()
  for (const word of words.filter((one) => !sentences.includes(` ${one} `))) {
    expect(copy).not.toContain(` ${word} `)
  }
  for (const [at, word] of words.slice(1).entries()) {
    expect(copy).not.toContain(`${words[at]} ${word}`)
  }
  await second.getByRole('button', { name: 'Listo' }).click()
  await page.getByText('Ya la hiciste en este equipo').waitFor()
  await press('Salir')
  await press('Me olvidé el PIN')
  await press('Entrar con una copia')
  await page.getByLabel('Abrir el archivo o la foto').setInputFiles(file)
  const typed = `${words.slice(0, 5).join(' ').toUpperCase()} zzzz`
  await page.getByLabel('Lo que abre esta copia').fill(typed)
  await page.getByLabel('Elegí un PIN para este equipo').fill(pin)
  await press('Entrar')
  await page.getByText('«zzzz» no es una de las palabras').waitFor()
  await press('Entrar')
  await page.getByText('Esa copia no se abre así').waitFor()
  await page.getByLabel('Lo que abre esta copia').fill(typed.replace('zzzz', words[5] ?? ''))
  await checkEveryWidth(page, 'panel-bring-second-copy')
  await press('Entrar')
  await inside()
  await press('Ajustes')
  await press('Salir')
  await tryPin(pin)
  await inside()
})

test('a browser that stores nothing gets a warning that the key will be lost, and a backup at once', async () => {
  await open(keepNothing)
  // Where the worker does not load, the page does its work.
  await page.route('**/ui/key-worker-*', (route) => route.abort())
  await press(/^Crear mi clave acá/)
  const lost = page.getByRole('alert').getByText('Tu clave se pierde al cerrar')
  await lost.waitFor()
  await checkEveryWidth(page, 'panel-key-fleeting')
  await press('Entrar de otra forma')
  await makeKey(page)
  await lost.waitFor()
  const download = page.waitForEvent('download')
  await press('Guardar la copia')
  expect(await Bun.file(await (await download).path()).text()).toContain('ncryptsec1')
  await lost.waitFor({ state: 'detached' })
})

test('an ended session is signed for again, and the typed input is still there', async () => {
  const dataDir = newDirectory()
  const before = server
  server = await startServer({ dataDir, env: { RATE_LIMIT: 'off' } })
  const { port } = new URL(server.url)
  // Another secret: every session is over.
  const restart = async (secret: string) => {
    await server.stop()
    const env = { RATE_LIMIT: 'off', PORT: port, SESSION_JWT_SECRET: secret.repeat(8) }
    server = await startServer({ dataDir, env })
  }
  await open()
  await makeKey(page)
  await page.getByRole('link', { name: 'Armar el mío' }).click()
  await writeCoupon('Sin preguntar')
  await restart('uno más ')
  await press('Crear el cupón')
  await page.getByRole('heading', { name: 'Sin preguntar' }).waitFor()
  await server.stop()
  await page.getByText('Sin conexión con el servicio').waitFor()
  await restart('uno más ')

  // A reloaded page has the session but not the key any more: it has to ask.
  await page.reload()
  await page.getByRole('link', { name: 'Cupones', exact: true }).click()
  await page.getByRole('link', { name: 'Nuevo cupón' }).click()
  await writeCoupon('No me pierdas')
  // Otherwise the page would ask by itself at its next look for news.
  await page.route('**/api/coupons/live', (route) => route.abort())
  await restart('otro más')
  await press('Crear el cupón')
  await page.getByLabel('PIN').waitFor()
  await checkEveryWidth(page, 'panel-sign-again')
  // Escape would discard the input behind it.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  // The focus is where the answer goes.
  await page.keyboard.type(pin)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No me pierdas' }).waitFor()
  await server.stop()
  server = before
})

async function writeCoupon(name: string): Promise<void> {
  await page.getByRole('radio', { name: 'Un monto' }).check()
  await next(page)
  await page.getByRole('textbox', { name: 'Monto' }).fill('700')
  await next(page)
  await page.getByLabel('Nombre del cupón').fill(name)
}

test('a key that the operator did not enable is told whom to ask, and for what', async () => {
  const closed = await startServer({
    env: { RATE_LIMIT: 'off', MERCHANTS: getPublicKey(randomBytes(32)) },
  })
  opened = await visit(`${closed.url}/panel`)
  page = opened.page
  await chooseKey(page)
  await page.getByRole('heading', { name: 'Falta que te habiliten' }).waitFor()
  await page.getByText('Ver clave').click()
  await page.getByText(/^npub1/).waitFor()
  await checkEveryWidth(page, 'panel-not-allowed')
  await closed.stop()
})

test('the page shows the setting that helps when the service does not know its address', async () => {
  // A name that leads here and is none of this machine's: the name of a shop's own DNS, or of a container's host.
  const base = server.url.replace('127.0.0.1', 'tienda.test')
  const setting = `PUBLIC_URL=${base}`
  opened = await visit(`${base}/panel`)
  page = opened.page
  await chooseKey(page)
  const alert = page.getByRole('alert')
  await alert.getByText('El servicio no reconoce esta dirección como propia').waitFor()
  await alert.getByText('Quien instaló el servicio lo tiene que iniciar').waitFor()
  expect(await alert.locator('code').textContent()).toBe(setting)
  await checkEveryWidth(page, 'panel-address-unknown')
  // The next try signs in by the key that was made, under the PIN that the form has now, and makes no other.
  const storedKey = () => page.evaluate(() => localStorage.getItem('cuponera:key:merchant'))
  const made = JSON.parse((await storedKey()) ?? '')
  const other = '135791'
  await page.getByLabel('Elegí un PIN').fill(other)
  await page.locator('button[type="submit"]').click()
  await page.locator('button[type="submit"][aria-busy="false"]').waitFor()
  await alert.getByText('El servicio no reconoce esta dirección como propia').waitFor()
  const now = JSON.parse((await storedKey()) ?? '')
  expect([now.pubkey === made.pubkey, now.ncryptsec === made.ncryptsec]).toEqual([true, false])
  await page.evaluate(() => {
    document.addEventListener('copy', () => {
      document.title = String(document.getSelection())
    })
  })
  await expectToast(page.getByText('Copiado'), () => press('Copiar'))
  expect(await page.title()).toBe(setting)
  // The same when a key is unlocked, in English, and at a till.
  await press('EN: Switch to English')
  await page.reload()
  await page.getByLabel('PIN').fill(other)
  await page.keyboard.press('Enter')
  await alert.getByText('does not recognise this address').waitFor()
  expect(await alert.locator('code').textContent()).toBe(setting)
  // A damaged key of the till is not replaced, only removed by the person.
  await page.evaluate(() => localStorage.setItem('cuponera:key:till', '{"half'))
  await page.goto(`${base}/caja`)
  await press('Issue')
  await page.getByLabel('PIN (6 digits or more)').fill(pin)
  await press('Create the key')
  await alert.getByText('a stored key that we cannot read').waitFor()
  expect(await page.evaluate(() => localStorage.getItem('cuponera:key:till'))).toBe('{"half')
  await press('Delete the key')
  await press('Yes, delete it')
  await press('Create the key')
  await alert.getByText('does not recognise this address').waitFor()
  expect(await alert.locator('code').textContent()).toBe(setting)
})

test('everything works on plain http in a shop’s network, and the announcement arrives', async () => {
  const first = await startServer()
  const { port } = new URL(first.url)
  await first.stop()
  const origin = `http://tienda.test:${port}`
  await startServer({
    env: { RATE_LIMIT: 'off', MERCHANTS: 'open', PORT: port, PUBLIC_URL: origin },
  })
  opened = await visit(`${origin}/panel`)
  page = opened.page
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false)
  await makeKey(page)
  await press('Publicar')
  await page.getByText('llegó').waitFor()
  await press('Ajustes')
  await expectToast(page.getByText('Copiado'), () => press('Copiar'))
})
