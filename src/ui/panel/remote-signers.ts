import { signal } from '@preact/signals'
import { createRemoteSigners, type Wait } from '../../client/signer-remote.ts'
import { tab } from '../browser/storage.ts'

/** The step that a remote signer is waited for; null while there is none. */
export const remoteWait = signal<Wait | null>(null)

export const remoteSigners = createRemoteSigners({
  store: tab,
  url: location.origin,
  onWait(wait) {
    remoteWait.value = wait
  },
})

/**
 * The relay where a signer and this page can meet: the one inside this service, else one of its relays, else
 * none.
 */
export function meetingPoint(): string {
  const { relay } = document.documentElement.dataset
  return relay ?? `${location.origin.replace(/^http/, 'ws')}/relay`
}
