import { useState } from 'preact/hooks'
import { SignerError } from '../../client/signer.ts'

/** One attempt at a time, and what it came to. */
export function useAttempt() {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const attempt = async (action: () => Promise<void>) => {
    setBusy(true)
    setFailure(null)
    try {
      await action()
    } catch (cause) {
      if (!(cause instanceof SignerError && cause.code === 'cancelled')) setFailure(cause)
    }
    setBusy(false)
  }
  return { busy, failure, attempt }
}
