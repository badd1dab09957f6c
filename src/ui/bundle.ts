import { fileURLToPath } from 'node:url'

/** The pages, each with the script it starts with. */
const entries = {
  panel: new URL('./panel/panel.tsx', import.meta.url),
  caja: new URL('./till/till.tsx', import.meta.url),
  c: new URL('./coupon/coupon.tsx', import.meta.url),
}
/** Runs before the first paint, on every page. */
const boot = new URL('./client/boot.ts', import.meta.url)
const style = new URL('./style/style.css', import.meta.url)

export type PageName = keyof typeof entries

/** Every page as a browser gets it. Bytes are base64, so that the build can write them into the binary. */
export type Bundle = {
  /** Addresses of a page's scripts, in the order they run, and of what they import at once. */
  pages: Record<PageName, { scripts: string[]; preload: string[] }>
  style: string
  /** What lies under `/ui/`, by name; names carry a hash of their content. */
  files: Record<string, { type: string; gzip: string }>
}

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  webmanifest: 'application/manifest+json; charset=utf-8',
}

/** Bundle the pages from source: at the first request of a page, or when the program is compiled. */
export async function bundlePages(): Promise<Bundle> {
  const result = await Bun.build({
    entrypoints: [...Object.values(entries), boot, style].map((url) => fileURLToPath(url)),
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
  })
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
  const page = (script: string) => {
    const main = named(script)
    return {
      scripts: [`/ui/${named('boot')}`, `/ui/${main}`],
      preload: [...importsOf(main, texts)].map((name) => `/ui/${name}`),
    }
  }
  const pages = { panel: page('panel'), caja: page('till'), c: page('coupon') }
  return { pages, style: `/ui/${named('style')}`, files }
}

/** The chunks that a script needs before it runs; not those it may ask for later. */
function importsOf(name: string, texts: ReadonlyMap<string, string>, found = new Set<string>()) {
  const text = texts.get(name) ?? ''
  for (const [, chunk = ''] of text.matchAll(/(?:from|import)\s*"(?:\/ui\/|\.\/)([\w-]+\.js)"/g)) {
    if (found.has(chunk)) continue
    found.add(chunk)
    importsOf(chunk, texts, found)
  }
  return found
}

function nameOf(path: string): string {
  return path.replaceAll('\\', '/').split('/').at(-1) ?? ''
}
