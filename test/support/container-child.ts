/** Runs outside of the container that `container.ts` makes: starts the service in it, asks, prints what came. */

import { createProof, newSigner, nostrHeader } from './client.ts'
import type { Ask } from './container.ts'
import { program } from './program.ts'
import { callRaw } from './raw.ts'
import { cleanUp, startServer } from './server.ts'

const [inside = '', given = ''] = process.argv.slice(2)
const { env, asks } = JSON.parse(given) as { env: Record<string, string>; asks: Ask[] }
const server = await startServer({
  env: { HOST: '0.0.0.0', MERCHANTS: 'open', ...env },
  command: ['nsenter', '-t', inside, '-n', ...program],
})
const { port } = new URL(server.url)
const answers = []
for (const { path, from, host, signs, headers = [] } of asks) {
  const proof = nostrHeader(createProof(newSigner(), `http://${host}${path}`))
  const all = signs ? [...headers, ['Authorization', proof] as const] : headers
  const to = `http://172.30.0.2:${port}`
  answers.push(await callRaw(to, { target: path, host, from, headers: all }))
}
const statuses = answers.map(({ status }) => status)
const errors = answers.map(({ json }) => json?.error ?? null)
console.log(JSON.stringify({ statuses, errors, output: server.output() }))
await server.stop()
await cleanUp()
