type Answer = (path: string, body: never, headers: Headers) => Response | Promise<Response>
type Listener = (event: { key?: string | null }) => void

/** The terms of a coupon, in every answer of the service about it. */
export const couponTerms = {
  couponId: '01a1fe7c-2d92-7144-beaa-b9a2d400f9c4',
  coupon: { type: 'percent', percent: 25 },
  name: 'Medialuna de regalo',
  description: '',
  npub: 'npub1mtkz48wps2wlzcea3edsy0yr5wa57ce6p58e40pyfkeegklxwx4qx06tql',
  image: null,
  expiresAt: null,
}

/** As much of a browser as the words of the pages ask for. */
export function pretendBrowser(): void {
  const storage = { getItem: () => null, setItem() {}, removeItem() {} }
  Object.assign(globalThis, {
    window: { localStorage: storage, sessionStorage: storage },
    document: { documentElement: { lang: '' } },
    navigator: { language: 'es' },
    location: { origin: 'http://127.0.0.1:3000' },
  })
}

export type FakePage = {
  /** The texts of its storage. */
  texts: Map<string, string>
  /** Whether its storage takes no more texts. */
  state: { full: boolean; answer: Answer }
  /** Open an address in this tab, as a tap on a link does. */
  visit(address: string): void
  back(): void
  /** Another page of this device changed its storage. */
  changed(key: string): void
}

/**
 * As much of a browser as the state of a page asks for: storage, the entries of a tab's history, and a service.
 * Called before the page's modules are imported.
 */
export function pretendPage(onMove: () => void): FakePage {
  const texts = new Map<string, string>()
  const state: FakePage['state'] = { full: false, answer: () => Response.error() }
  const listeners = new Map<string, Listener[]>()
  const listen = (name: string, listener: Listener) => {
    listeners.set(name, [...(listeners.get(name) ?? []), listener])
  }
  const storage = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem(name: string, text: string) {
      if (state.full) throw new DOMException('full', 'QuotaExceededError')
      texts.set(name, text)
    },
    removeItem: (name: string) => texts.delete(name),
  }
  const entries: { url: URL; state: unknown }[] = [
    { url: new URL('http://127.0.0.1:3000/c'), state: null },
  ]
  const put = (address: string, kept: unknown) => {
    entries.push({ url: new URL(address, entries.at(-1)?.url), state: kept })
  }
  const last = () => entries.at(-1)!
  Object.assign(globalThis, {
    window: { localStorage: storage, sessionStorage: storage, addEventListener: listen },
    document: {
      documentElement: { lang: '', dataset: {} },
      hidden: false,
      addEventListener: listen,
    },
    navigator: { language: 'es' },
    location: {
      get hash() {
        return last().url.hash
      },
      get pathname() {
        return last().url.pathname
      },
      host: '127.0.0.1:3000',
      origin: 'http://127.0.0.1:3000',
    },
    history: {
      get state() {
        return last().state
      },
      pushState: (kept: unknown, _title: string, address: string) => put(address, kept),
      replaceState(kept: unknown, _title: string, address: string) {
        entries.pop()
        put(address, kept)
      },
    },
    fetch: async (url: string, { body, headers }: RequestInit) =>
      state.answer(
        url.replace(location.origin, ''),
        JSON.parse(String(body ?? null)) as never,
        new Headers(headers),
      ),
  })
  return {
    texts,
    state,
    visit(address) {
      put(address, null)
      onMove()
    },
    back() {
      entries.pop()
      onMove()
    },
    changed(key) {
      for (const listener of listeners.get('storage') ?? []) listener({ key })
    },
  }
}
