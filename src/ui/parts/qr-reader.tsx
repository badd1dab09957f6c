import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Camera, cameraTrouble, openCamera } from '../browser/camera.ts'
import { readPhoto } from '../browser/qr-reader.ts'
import { commonWords as t } from '../words/common.ts'
import { useAttempt } from './attempt.ts'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'
import { FileButton } from './file-button.tsx'
import { Notice } from './notice.tsx'

type Props = { onRead: (text: string) => void }

/** Reads a QR code by photo, and by camera where the browser allows it. */
export function QrReader({ onRead }: Props) {
  const [unread, setUnread] = useState(false)
  // The part that reads photos loads with the first one, which fails without a connection.
  const { failure, attempt } = useAttempt()
  const photo = async (picked: File) => {
    setUnread(false)
    const text = await readPhoto(picked)
    if (text) onRead(text)
    else setUnread(true)
  }
  return (
    <div class="stack tight">
      <CameraReader onRead={onRead} onBegin={() => setUnread(false)}>
        <FileButton
          icon="image"
          label={t('read.photo')}
          accept="image/*"
          onFile={(picked) => void attempt(() => photo(picked))}
        />
      </CameraReader>
      {unread && <Notice tone="bad">{t('read.none')}</Notice>}
      {failure !== null && <Failure cause={failure} />}
    </div>
  )
}

type CameraProps = Props & {
  onBegin?: () => void
  /** Buttons beside that of the camera. */
  children: ComponentChildren
}

/** Reads a QR code by camera where the browser allows it, beside other ways. */
export function CameraReader({ onRead, onBegin, children }: CameraProps) {
  const [filming, setFilming] = useState(false)
  const [closed, setClosed] = useState(false)
  const finish = (text: string | null) => {
    setFilming(false)
    setClosed(text === null)
    if (text !== null) onRead(text)
  }
  return (
    <>
      <div class="actions">
        {cameraTrouble() === null && !filming && (
          <Button
            icon="camera"
            onClick={() => {
              onBegin?.()
              setFilming(true)
            }}
          >
            {t('read.scan')}
          </Button>
        )}
        {children}
      </div>
      {filming && <Film onEnd={finish} />}
      {closed && <Notice tone="bad">{t('read.camera.none')}</Notice>}
    </>
  )
}

/** The camera until it has read a code; null when it cannot be opened. */
function Film({ onEnd }: { onEnd: (text: string | null) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    let camera: Camera | null = null
    let gone = false
    const start = async (shown: HTMLVideoElement) => {
      const opened = await openCamera(shown, (text) => {
        if (!gone && text) onEnd(text)
      })
      if (typeof opened === 'string') return gone || onEnd(null)
      camera = opened
      if (gone) camera.stop()
      return
    }
    if (video.current) void start(video.current)
    return () => {
      gone = true
      camera?.stop()
    }
  }, [])
  return <video ref={video} class="film" autoPlay playsInline muted aria-label={t('read.camera')} />
}
