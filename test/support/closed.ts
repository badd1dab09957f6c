import { call, type Json, newSigner, openSession } from './client.ts'
import { type ServerOptions, startServer, type TestServer } from './server.ts'

export type ClosedServer = TestServer & {
  /** The code of the start block, or empty when there is none. */
  code: string
}

/** A server that others than this machine could reach: management waits for the setup code. */
export async function startClosed(options: ServerOptions = {}): Promise<ClosedServer> {
  const env = { HOST: '0.0.0.0', RATE_LIMIT: 'off', ...options.env }
  const server = await startServer({ ...options, env })
  const url = server.url.replace('0.0.0.0', '127.0.0.1')
  return { ...server, url, code: shownCode(server) }
}

/** The code in the start block of a server. */
export function shownCode({ output }: Pick<TestServer, 'output'>): string {
  return /setup code is used: (\S+)/.exec(output())?.[1] ?? ''
}

/** Send a setup code. */
export function sendCode(url: string, signer: ReturnType<typeof newSigner>, code: unknown) {
  return call(url, '/api/setup', { body: { code }, signer })
}

/** A key that the setup code let in, with a session of it. */
export async function admitByCode({ url, code }: ClosedServer): Promise<{
  signer: ReturnType<typeof newSigner>
  token: string
}> {
  const signer = newSigner()
  const { status, json } = await sendCode(url, signer, code)
  if (status !== 201) throw new Error(`the setup code was refused: ${JSON.stringify(json as Json)}`)
  return { signer, token: await openSession(url, signer) }
}
