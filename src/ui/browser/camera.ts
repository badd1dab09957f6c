/** The camera of the device, and the codes that come before it. */
import { readFrame } from './qr-reader.ts'

export type CameraTrouble =
  /** Browsers give no camera to a page on plain http. */
  'insecure' | 'denied' | 'none' | 'busy'

export type Camera = {
  /** Null where the lamp cannot be switched from a page. */
  light: ((on: boolean) => Promise<void>) | null
  stop(): void
}

/** Between two looks at the picture; a cheap phone needs the rest for itself. */
const lookMs = 120

/** What keeps this page from the camera, as far as can be told before asking; null when nothing does. */
export function cameraTrouble(): CameraTrouble | null {
  if (!window.isSecureContext) return 'insecure'
  return navigator.mediaDevices ? null : 'none'
}

/** Show the camera in `video` and tell every code that is read, as often as it is read. */
export async function openCamera(
  video: HTMLVideoElement,
  onText: (text: string) => void,
): Promise<Camera | CameraTrouble> {
  const trouble = cameraTrouble()
  if (trouble) return trouble
  const stream = await openStream()
  if (typeof stream === 'string') return stream
  const [track] = stream.getVideoTracks()
  let stopped = false
  const stop = () => {
    stopped = true
    for (const one of stream.getTracks()) one.stop()
    video.srcObject = null
  }
  video.srcObject = stream
  const look = async () => {
    while (!stopped) {
      const text = document.hidden ? null : await readFrame(video).catch(unloaded)
      if (stopped) return
      if (text) onText(text)
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
  }
  // A page that is left while the video starts interrupts it; then nobody looks.
  await video.play().catch(() => undefined)
  void look()
  return { light: lightOf(track), stop }
}

/** The reader of codes could not be loaded yet: the next look asks for it again. */
function unloaded(cause: unknown): null {
  if (cause instanceof TypeError) return null
  throw cause
}

async function openStream(): Promise<MediaStream | CameraTrouble> {
  const video = { facingMode: { ideal: 'environment' }, width: { ideal: 1280 } }
  try {
    return await navigator.mediaDevices.getUserMedia({ video, audio: false })
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    if (cause.name === 'NotAllowedError' || cause.name === 'SecurityError') return 'denied'
    return cause.name === 'NotFoundError' ? 'none' : 'busy'
  }
}

/** Not in the types of the DOM yet. */
type Torch = { torch?: boolean }

function lightOf(track: MediaStreamTrack | undefined): Camera['light'] {
  const able = track?.getCapabilities?.() as (MediaTrackCapabilities & Torch) | undefined
  if (!track || !able?.torch) return null
  return (torch) => track.applyConstraints({ advanced: [{ torch } as MediaTrackConstraintSet] })
}
