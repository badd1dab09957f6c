import { useState } from 'preact/hooks'
import { SignerError } from '../../client/signer.ts'

export type Attempt = {
  busy: boolean
  /** The reason why the last attempt failed; null when it did not, or was cancelled by the person. */
  failure: unknown
  attempt: (action: () => Promise<void>) => Promise<void>
  /** Forget the failure of an input that has changed since. */
  dismiss: () => void
}

/** State of an action that may fail: `busy` for its button, `failure` for a notice. */
export function useAttempt(): Attempt {
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
  const dismiss = () => setFailure(null)
  return { busy, failure, attempt, dismiss }
}
