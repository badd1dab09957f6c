/** The notice of a new build, without a browser. */
import { expect, test } from 'bun:test'
import { keepOffline, updated } from '../../src/ui/browser/install.ts'
import { until } from '../support/until.ts'

const served = { page: '', asked: 0 }

/** A page of these files, whose worker is replaced. Returns the event of the new worker. */
async function upgrade(files: string[], before: object | null): Promise<void> {
  const worker = new EventTarget()
  const serviceWorker = Object.assign(worker, { controller: before, register: async () => {} })
  const elements = files.map((path) => ({
    getAttribute: (name: string) => (name === 'src' ? path : null),
  }))
  Object.assign(globalThis, {
    window: { isSecureContext: true },
    navigator: { serviceWorker },
    location: { pathname: '/caja' },
    document: { querySelectorAll: () => elements },
    fetch: async () => {
      served.asked++
      return new Response(served.page)
    },
  })
  updated.value = false
  await keepOffline()
  const asked = served.asked
  worker.dispatchEvent(new Event('controllerchange'))
  if (before) await until('the question for the page', () => served.asked > asked)
  await Bun.sleep(0)
}

const page = (file: string) => `<script type="module" src="${file}"></script>`

test.each([
  ['a page that was loaded before the upgrade', '/ui/old.js', {}, true],
  ['a page that was loaded after it', '/ui/new.js', {}, false],
  ['the first worker of a device', '/ui/old.js', null, false],
])('the notice of a new version: %s', async (_what, file, before, shown) => {
  served.page = page('/ui/new.js')
  await upgrade([file], before)
  expect(updated.peek()).toBe(shown)
})
