import { expect } from 'bun:test'
import type { Signer } from '../../../src/nostr/event.ts'
import { call, createProof, type Json, newSigner, nostrHeader } from '../../support/client.ts'
import { startClosed } from '../../support/closed.ts'
import type { Documented } from '../../support/documented.ts'
import { until } from '../../support/until.ts'

const begin = 'POST /api/move'
const file = 'POST /api/move/file'
const back = 'DELETE /api/move'
const arrive = 'POST /api/arrival'
const piece = 'PUT /api/arrival/pieces'
const finish = 'POST /api/arrival/finish'

/** A service that goes to another computer. */
export function testMoves({ scenario, newCaller, exampleOf }: Documented): void {
  scenario('a service moves out and comes in', async () => {
    const old = await startClosed()
    const { send, refused, signer } = await newCaller({ at: old })
    const body = exampleOf(file)
    await refused(begin, 'move-not-allowed', { signer })
    await refused(begin, 'auth-missing')
    await send('POST /api/setup', { body: { code: old.code } })
    const far = { Via: '1.1 far' }
    await refused(begin, 'move-in-clear', { signer, headers: far })
    await refused(file, 'move-not-begun', { signer, body })
    await refused(back, 'move-not-begun', { signer })
    await refused(file, 'field-invalid', { signer, body: { passphrase: 'short' } })
    await send(begin)
    await until('it was moved', async () => {
      const answer = await call(old.url, '/readyz').catch(() => null)
      return answer?.json?.code === 'moved'
    })
    await refused('GET /readyz', 'moved')
    await refused(file, 'move-not-allowed', { signer: newSigner(), body })
    await send(file)
    const moved = await fetchFile(old.url, signer, body)
    await send(back)

    const fresh = await startClosed()
    const arriving = await newCaller({ at: fresh })
    const { ticket } = await arriving.send(arrive, { body: { code: fresh.code } })
    const headers = { 'X-Move-Ticket': ticket }
    const { bytes } = await arriving.send(piece, { body: () => moved, headers })
    expect(bytes).toBe(moved.length)
    const wrong = { passphrase: 'otras palabras que no son las de este' }
    await arriving.refused(finish, 'move-passphrase-wrong', { body: wrong, headers })
    await arriving.send(finish, { headers })
  })

  scenario('a file that is wrong, and one that is right', async () => {
    const fresh = await startClosed()
    const body = exampleOf(finish)
    const { ask, refused, signer } = await newCaller({ at: fresh })
    await refused(arrive, 'setup-code-wrong', { body: {} })
    const { ticket } = await ask(arrive, { body: { code: fresh.code } })
    const headers = { 'X-Move-Ticket': ticket, 'Content-Type': 'application/octet-stream' }
    const at = (bytes: number) => ({ path: `/api/arrival/pieces?at=${bytes}` })
    await refused(piece, 'move-not-allowed', { ...at(0), body: 'x' })
    await refused(piece, 'field-invalid', { ...at(5), body: 'x', headers })
    await ask(piece, { ...at(0), body: 'x', headers })
    const json = { 'X-Move-Ticket': ticket }
    await refused(finish, 'move-file-damaged', { body, headers: json })
    await refused(finish, 'field-invalid', { body: { passphrase: 5 }, headers: json })
    await ask(piece, { ...at(0), body: 'x', headers })
    await ask('POST /api/setup', { body: { code: fresh.code }, signer })
    await refused(finish, 'move-not-empty', { body, headers: json })
  })
}

async function fetchFile(url: string, signer: Signer, body: Json): Promise<Uint8Array> {
  const sent = JSON.stringify(body)
  const proof = createProof(signer, `${url}/api/move/file`, { method: 'POST', body: sent })
  const headers = { Authorization: nostrHeader(proof), 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/api/move/file`, { method: 'POST', body: sent, headers })
  return answer.bytes()
}
