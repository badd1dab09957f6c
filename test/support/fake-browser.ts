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
