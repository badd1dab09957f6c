import { randomBytes } from 'node:crypto'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'

/** How long published notes may be on their way to a relay. */
const deliveredMsMax = 20_000

type Notes = { count: number; secret: string }

/** Notes of one second, as JSON of one length. */
export function signNotes({ count, secret }: Notes): string[] {
  const signer = newSigner(Uint8Array.fromHex(secret))
  const created_at = secondsNow()
  return Array.from({ length: count }, () => {
    const content = randomBytes(60).toString('hex')
    return JSON.stringify(signer.sign({ kind: 1, created_at, tags: [['t', 'bench']], content }))
  })
}

/** Publish notes, and wait until a fetch finds as many. */
export async function publishNotes(url: string, notes: Notes) {
  const send = (path: string, body: string) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
  for (const note of signNotes(notes)) {
    const response = await send('/nostr/publish', note)
    if (!response.ok) throw new Error(`publishing failed: ${await response.text()}`)
  }
  const filter = { authors: [newSigner(Uint8Array.fromHex(notes.secret)).pubkey], kinds: [1] }
  const all = JSON.stringify({ ...filter, limit: notes.count })
  const until = performance.now() + deliveredMsMax
  while (((await (await send('/nostr/fetch', all)).json()) as unknown[]).length < notes.count) {
    if (performance.now() > until) throw new Error('published notes are not found')
    await Bun.sleep(50)
  }
}
