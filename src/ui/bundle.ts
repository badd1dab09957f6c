import { fileURLToPath } from 'node:url'

/** The first script of each page. */
const entries = {
  panel: new URL('./panel/panel.tsx', import.meta.url),
  caja: new URL('./till/till.tsx', import.meta.url),
  c: new URL('./coupon/coupon.tsx', import.meta.url),
  docs: new URL('./docs/docs.tsx', import.meta.url),
}
/** Runs on every page before the first paint. */
const boot = new URL('./browser/boot.ts', import.meta.url)
const style = new URL('./style/style.css', import.meta.url)
/** The documentation has a style of its own, since it has none of the other parts. */
const docsStyle = new URL('./style/reference.css', import.meta.url)
const worker = new URL('./till/service-worker.ts', import.meta.url)
const keyWorker = new URL('./browser/key-worker.ts', import.meta.url)
/** Made for this project; the PNGs are pictures of the SVG. */
const icons = {
  drawn: new URL('./icons/icon.svg', import.meta.url),
  small: new URL('./icons/icon-192.png', import.meta.url),
  large: new URL('./icons/icon-512.png', import.meta.url),
  maskable: new URL('./icons/icon-maskable.png', import.meta.url),
  apple: new URL('./icons/icon-apple.png', import.meta.url),
}

export type PageName = keyof typeof entries

/** The pages as browsers get them. Bytes are base64, so that the build can write them into the binary. */
export type Bundle = {
  /** Addresses of a page's scripts in the order they run, of their static imports, and of its style. */
  pages: Record<PageName, { scripts: string[]; parts: string[]; style: string }>
  /** Addresses of the icons of an installed page. */
  icons: Record<keyof typeof icons, string>
  /** The script of the service worker, and the addresses of the files it stores. */
  worker: string
  offline: string[]
  /** Address of the script that encrypts keys in its own thread. */
  keyWorker: string
  /** Files under `/ui/`, by name. A name has a hash of the content. */
  files: Record<string, { type: string; gzip: string }>
}

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  webmanifest: 'application/manifest+json; charset=utf-8',
}

/** The scripts and styles of the pages; the metafile lists their sources. */
export function buildPages(): Promise<Bun.BuildOutput> {
  return Bun.build({
    entrypoints: [...Object.values(entries), boot, style, docsStyle, worker, keyWorker].map((url) =>
      fileURLToPath(url),
    ),
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    publicPath: '/ui/',
    naming: {
      entry: '[name]-[hash].[ext]',
      chunk: 'part-[hash].[ext]',
      asset: '[name]-[hash].[ext]',
    },
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    metafile: true,
  })
}

/** Bundle the pages from source, at the first request of a page or when the program is compiled. */
export async function bundlePages(): Promise<Bundle> {
  const result = await buildPages()
  const files: Bundle['files'] = {}
  const texts = new Map<string, string>()
  for (const output of result.outputs) {
    const name = nameOf(output.path)
    const bytes = new Uint8Array(await output.arrayBuffer())
    const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    files[name] = { type, gzip: Buffer.from(Bun.gzipSync(bytes, { level: 9 })).toString('base64') }
    if (output.kind !== 'asset') texts.set(name, await output.text())
  }
  const named = (stem: string) => {
    const found = Object.keys(files).find((name) => name.startsWith(`${stem}-`))
    if (!found) throw new Error(`the bundle has no ${stem}`)
    return found
  }
  const page = (script: string, sheet = 'style') => {
    const main = named(script)
    return {
      scripts: [`/ui/${named('boot')}`, `/ui/${main}`],
      parts: [...importsOf(main, texts)].map((name) => `/ui/${name}`),
      style: `/ui/${named(sheet)}`,
    }
  }
  const pages = {
    ...{ panel: page('panel'), caja: page('till'), c: page('coupon') },
    docs: page('docs', 'reference'),
  }
  const addresses = { ...icons } as unknown as Bundle['icons']
  for (const [name, url] of Object.entries(icons)) {
    const file = await iconFile(fileURLToPath(url))
    files[file.name] = file.content
    addresses[name as keyof typeof icons] = `/ui/${file.name}`
  }
  const kept = new Set(['till', 'coupon', 'boot', 'style', 'key-worker'].map(named))
  for (const name of [...kept]) for (const part of everyImportOf(name, texts)) kept.add(part)
  const offline = [...[...kept].map((name) => `/ui/${name}`), addresses.drawn, addresses.small]
  const script = texts.get(named('service-worker')) ?? ''
  return {
    pages,
    icons: addresses,
    worker: script,
    offline,
    keyWorker: `/ui/${named('key-worker')}`,
    files,
  }
}

/** The static imports of a script, through all chunks. */
function importsOf(name: string, texts: ReadonlyMap<string, string>, found = new Set<string>()) {
  const text = texts.get(name) ?? ''
  for (const [, chunk = ''] of text.matchAll(/(?:from|import)\s*"(?:\/ui\/|\.\/)([\w-]+\.js)"/g)) {
    if (found.has(chunk)) continue
    found.add(chunk)
    importsOf(chunk, texts, found)
  }
  return found
}

/** The static and dynamic imports of a script, through all chunks. */
function everyImportOf(
  name: string,
  texts: ReadonlyMap<string, string>,
  found = new Set<string>(),
): Set<string> {
  for (const [, chunk = ''] of (texts.get(name) ?? '').matchAll(/"(?:\/ui\/|\.\/)([\w-]+\.js)"/g)) {
    if (found.has(chunk)) continue
    found.add(chunk)
    everyImportOf(chunk, texts, found)
  }
  return found
}

async function iconFile(path: string) {
  const bytes = await Bun.file(path).bytes()
  const [stem = '', extension = ''] = nameOf(path).split('.')
  const hash = Bun.hash(bytes).toString(36)
  const gzip = Buffer.from(Bun.gzipSync(bytes, { level: 9 })).toString('base64')
  return {
    name: `${stem}-${hash}.${extension}`,
    content: { type: types[extension] ?? 'application/octet-stream', gzip },
  }
}

function nameOf(path: string): string {
  return path.replaceAll('\\', '/').split('/').at(-1) ?? ''
}
