/** The path of a request as it was sent, without its query. */
export function pathOf(request: Request): string {
  const target = targetOf(request)
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}

/** Path and query as they were sent. */
export function targetOf({ url }: Request): string {
  // Without a Host header (HTTP/1.0) the URL is only a path.
  return url.slice(url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length))
}

/**
 * The request as the router takes it: a HEAD as a GET, and with a host in its URL. Without a usable Host header there
 * is none, and that of a HEAD is replaced, since a Host header may hold what no URL may.
 */
export function routable(request: Request): Request {
  const head = request.method === 'HEAD'
  if (!head && request.url.startsWith('http://')) return request
  const url = `http://localhost${targetOf(request)}`
  return head
    ? new Request(url, { method: 'GET', headers: request.headers })
    : new Request(url, request)
}
