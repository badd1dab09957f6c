import type { KeyCipher, KeyWork } from '../../client/key-work.ts'
import { painted } from './painted.ts'

/** Key work in a worker, one for each piece: its end gives back the memory of scrypt (64 MB). */
export const keyCipher: KeyCipher = {
  encrypt: (secret, password, signal) => run({ step: 'encrypt', secret, password }, signal),
  decrypt: (ncryptsec, password) => run({ step: 'decrypt', ncryptsec, password }),
}

function run<Outcome>(work: KeyWork, signal?: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const address = document.documentElement.dataset.keyWorker ?? ''
    const worker = new Worker(address, { type: 'module' })
    signal?.addEventListener('abort', () => worker.terminate())
    worker.onmessage = ({ data }: MessageEvent<Outcome>) => {
      worker.terminate()
      resolve(data)
    }
    // An older browser has no module workers, and the script may not load where the connection is gone.
    worker.onerror = () => {
      worker.terminate()
      if (!signal?.aborted) runHere<Outcome>(work).then(resolve, reject)
    }
    worker.postMessage(work)
  })
}

/** In the thread of the page, which stands still meanwhile. */
async function runHere<Outcome>(work: KeyWork): Promise<Outcome> {
  const { doKeyWork } = await import('../../client/key-work.ts')
  await painted()
  return doKeyWork(work) as Outcome
}
