/** The camera of the device, which reads codes. */
import { readFrame } from './qr-reader.ts'

export type CameraTrouble =
  /** Browsers give no camera to a page on plain http. */
  'insecure' | 'denied' | 'none' | 'busy'

export type Camera = {
  /** Switches the lamp; null where a page cannot. */
  light: ((on: boolean) => Promise<void>) | null
  stop(): void
}

/** Pause between two frames: reading all of them would stall a cheap phone. */
const lookMs = 120

/** The reason why this page cannot use the camera, if one is known before asking for it; else null. */
export function cameraTrouble(): CameraTrouble | null {
  if (!window.isSecureContext) return 'insecure'
  return navigator.mediaDevices ? null : 'none'
}

/**
 * Show the camera in `video`. `onFrame` gets the code of every frame, so the same code many times; null
 * without one; undefined while there is no picture, and when the camera closes.
 */
export async function openCamera(
  video: HTMLVideoElement,
  onFrame: (text: string | null | undefined) => void,
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
    onFrame(undefined)
  }
  video.srcObject = stream
  const look = async () => {
    while (!stopped) {
      // Without a picture, as in a hidden page, nobody knows whether the code has left it.
      const blind = document.hidden || video.videoWidth === 0
      const text = blind ? undefined : await readFrame(video).catch(unloaded)
      if (stopped) return
      onFrame(text)
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
  }
  // Leaving the page while the video starts rejects this promise, and nobody looks then.
  await video.play().catch(() => undefined)
  void look()
  return { light: lightOf(track), stop }
}

/** The reader is loaded on demand. Where its chunk does not load (TypeError), the next frame tries again. */
function unloaded(cause: unknown): undefined {
  if (cause instanceof TypeError) return
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

/** Missing in the types of the DOM. */
type Torch = { torch?: boolean }

function lightOf(track: MediaStreamTrack | undefined): Camera['light'] {
  const able = track?.getCapabilities?.() as (MediaTrackCapabilities & Torch) | undefined
  if (!track || !able?.torch) return null
  return (torch) => track.applyConstraints({ advanced: [{ torch } as MediaTrackConstraintSet] })
}
