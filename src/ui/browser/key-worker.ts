/** Does one piece of key work in its own thread, so that the page stays alive. */
import { doKeyWork, type KeyWork } from '../../client/key-work.ts'

type Scope = {
  onmessage: ((event: MessageEvent<KeyWork>) => void) | null
  postMessage(outcome: ReturnType<typeof doKeyWork>): void
}

const scope = globalThis as unknown as Scope
scope.onmessage = ({ data }) => scope.postMessage(doKeyWork(data))
