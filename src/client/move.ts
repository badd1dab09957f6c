/** Moving a service to another computer: the requests of the pages at both ends. */
import { clientLimits } from '../base/limits-client.ts'
import { anyone } from './anyone.ts'
import { requestFile } from './api.ts'
import { ApiError } from './api-error.ts'
import type { Pause } from './persist.ts'
import { readPlace } from './place.ts'
import { proofHeader, proofTemplate } from './proof.ts'
import type { PageSigner } from './signer.ts'

/** Copying a large database, and checking it, take as long as its disk needs. */
const fileMs = 60 * 60_000
/** A piece over the Wi-Fi of a shop. */
const pieceMs = 120_000
const pausesSeconds = [1, 2, 4, 8]
/** A service starts within seconds, a large one on an old computer within a minute or two. */
const startSecondsMax = 180

/** The key that moves a service, and the origin that its signatures name. */
type Mover = { signer: PageSigner; origin: string }

/** Close the service here. A repeated call changes nothing. Throws ApiError and SignerError. */
export async function beginMove(mover: Mover): Promise<void> {
  const headers = await signed(mover, 'POST', '/api/move')
  await anyone.call('POST /api/move', { headers })
}

/** Open the service again. Throws ApiError and SignerError. */
export async function takeMoveBack(mover: Mover): Promise<void> {
  const headers = await signed(mover, 'DELETE', '/api/move')
  await anyone.call('DELETE /api/move', { headers })
}

/** Fetch the file of the move, encrypted under `passphrase`. Throws ApiError and SignerError. */
export async function fetchMoveFile(mover: Mover, passphrase: string): Promise<Blob> {
  const path = '/api/move/file'
  const body = JSON.stringify({ passphrase })
  const headers = await signed(mover, 'POST', path, body)
  return requestFile(path, { method: 'POST', body, headers, timeoutMs: fileMs })
}

/** Wait until the service has started again. Throws ApiError where it does not. */
export async function waitForPlace(place: 'here' | 'moved', pause: Pause): Promise<void> {
  await waitUntil(async () => (await readPlace()) === place, pause)
}

/** Begin to bring a service in; the ticket for its pieces. `code` is the setup code. Throws ApiError. */
export async function openArrival(code: string | null): Promise<string> {
  const body = code === null ? {} : { code }
  return (await anyone.call('POST /api/arrival', { body })).ticket
}

type Sending = {
  ticket: string
  pause: Pause
  /** Called with the bytes that arrived. */
  onSent: (bytes: number) => void
}

/** Send a file piece by piece. A piece whose answer is lost is sent again. Throws ApiError. */
export async function sendPieces(file: Blob, sending: Sending): Promise<void> {
  for (let at = 0; at < file.size; at += clientLimits.movePieceBytesMax) {
    const end = Math.min(at + clientLimits.movePieceBytesMax, file.size)
    await sendPiece(file.slice(at, end, 'application/octet-stream'), at, sending)
    sending.onSent(end)
  }
}

async function sendPiece(body: Blob, at: number, { ticket, pause }: Sending): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      const headers = { 'X-Move-Ticket': ticket }
      const input = { query: { at }, body, headers, timeoutMs: pieceMs }
      await anyone.call('PUT /api/arrival/pieces', input)
      return
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause
      // It arrived the first time. If not, the service refuses the next piece, too.
      if (tries > 0 && cause.code === 'field-invalid') return
      const seconds = pausesSeconds[tries]
      if (seconds === undefined || !passing(cause)) throw cause
      await pause(Math.max(seconds, cause.retryAfter ?? 0))
    }
  }
}

/** Whether the same piece may arrive a moment later. */
function passing({ code }: ApiError): boolean {
  return ['unreachable', 'overloaded', 'rate-limited', 'request-timeout'].includes(code)
}

type Finishing = { ticket: string; passphrase: string; pause: Pause }

/**
 * Let the sent service take the place of this one, and wait until it runs: it has another manager. Its restart can
 * cost the answer. Throws ApiError.
 */
export async function finishArrival({ ticket, passphrase, pause }: Finishing): Promise<void> {
  const before = await fetchManager()
  if (before === null) throw new ApiError('unreachable')
  const headers = { 'X-Move-Ticket': ticket }
  try {
    const input = { body: { passphrase }, headers, timeoutMs: fileMs }
    await anyone.call('POST /api/arrival/finish', input)
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.code !== 'unreachable') throw cause
  }
  await waitUntil(async () => ![before, null].includes(await fetchManager()), pause)
}

async function fetchManager(): Promise<string | null> {
  try {
    return (await anyone.call('GET /api/coupons/manager')).pubkey
  } catch (cause) {
    if (cause instanceof ApiError) return null
    throw cause
  }
}

async function waitUntil(reached: () => Promise<boolean>, pause: Pause): Promise<void> {
  for (let tries = 0; tries < startSecondsMax; tries++) {
    if (await reached()) return
    await pause(1)
  }
  throw new ApiError('unreachable')
}

async function signed(
  { signer, origin }: Mover,
  method: 'POST' | 'DELETE',
  path: string,
  body: string | null = null,
): Promise<Record<string, string>> {
  const proof = proofTemplate({ url: `${origin}${path}`, method, body })
  return { Authorization: proofHeader(await signer.sign(proof)) }
}
