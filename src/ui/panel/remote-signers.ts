import { createRemoteSigners } from '../../client/signer-remote.ts'
import { tab } from '../browser/storage.ts'
import { remoteWait } from './remote-wait.tsx'

export const remoteSigners = createRemoteSigners({
  store: tab,
  url: location.origin,
  onWait(wait) {
    // A page of the signer changes the current wait and begins no other.
    const before = wait?.url === undefined ? null : remoteWait.peek()
    const untilMs = (seconds: number) => before?.untilMs ?? Date.now() + seconds * 1000
    remoteWait.value = wait && { ...wait, untilMs: untilMs(wait.seconds) }
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
