import { literalCertificate } from './certificates.ts'

/** A holder's own wallet on 127.0.0.1, over TLS; `answer` decides what it says. */
export function startWallet(answer: (url: URL) => Response | Promise<Response>) {
  const asked: URL[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: literalCertificate,
    fetch(request) {
      const url = new URL(request.url)
      asked.push(url)
      return answer(url)
    },
  })
  const stop = () => server.stop(true)
  return { url: `https://127.0.0.1:${server.port}`, asked, stop, [Symbol.asyncDispose]: stop }
}
