import { signal } from '@preact/signals'
import { createRemoteSigners, type Wait } from '../../client/signer-remote.ts'
import { tab } from '../browser/storage.ts'

/** The current wait for a remote signer; null while there is none. */
export const remoteWait = signal<Wait | null>(null)

export const remoteSigners = createRemoteSigners({
  store: tab,
  url: location.origin,
  onWait(wait) {
    remoteWait.value = wait
  },
})

/**
 * The relay over which a signer and this page talk: the service's own, else one that it publishes to, else
 * none.
 */
export function meetingPoint(): string {
  const { relay } = document.documentElement.dataset
  return relay ?? `${location.origin.replace(/^http/, 'ws')}/relay`
}
