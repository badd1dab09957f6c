import type { Bundle } from './bundle.ts'

/** Pages that a device stores for use without a connection. */
const offlinePages = ['/caja', '/c']

/** The web app manifest, by which a browser installs the till as an application. */
export function createManifest({ icons }: Bundle): string {
  const picture = (src: string, sizes: string, purpose = 'any') => {
    return { src, sizes, type: src.endsWith('.svg') ? 'image/svg+xml' : 'image/png', purpose }
  }
  return JSON.stringify({
    id: '/caja',
    name: 'Cuponera · Caja',
    short_name: 'Caja',
    description: 'Canjear y emitir cupones en el mostrador',
    lang: 'es-AR',
    start_url: '/caja',
    scope: '/caja',
    display: 'standalone',
    orientation: 'any',
    background_color: '#faf7f2',
    theme_color: '#0d6650',
    categories: ['business', 'shopping'],
    icons: [
      picture(icons.small, '192x192'),
      picture(icons.large, '512x512'),
      picture(icons.maskable, '512x512', 'maskable'),
      picture(icons.drawn, 'any'),
    ],
  })
}

/** The service worker with the list of files it stores. A new build changes the text, so browsers update. */
export function createWorker({ worker, offline, pages }: Bundle): string {
  const { scripts, style } = pages.caja
  const version = new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([offline, style, scripts, worker]))
    .digest('hex')
    .slice(0, 16)
  const shell = { version, pages: offlinePages, files: offline }
  return `self.SHELL=${JSON.stringify(shell)};\n${worker}`
}
