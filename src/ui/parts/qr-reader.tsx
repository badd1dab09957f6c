import { useEffect, useRef, useState } from 'preact/hooks'
import { type Camera, cameraTrouble, openCamera } from '../browser/camera.ts'
import { readPhoto } from '../browser/qr-reader.ts'
import { commonWords as t } from '../words/common.ts'
import { Button } from './button.tsx'
import { FileButton } from './file-button.tsx'
import { Notice } from './notice.tsx'

type Props = { onRead: (text: string) => void }

/** Reads a QR code by photo, and by camera where the browser allows it. */
export function QrReader({ onRead }: Props) {
  const [filming, setFilming] = useState(false)
  const [trouble, setTrouble] = useState<'unread' | 'camera' | null>(null)
  const photo = async (picked: File) => {
    setTrouble(null)
    const text = await readPhoto(picked)
    if (text) onRead(text)
    else setTrouble('unread')
  }
  const finish = (text: string | null) => {
    setFilming(false)
    if (text === null) setTrouble('camera')
    else onRead(text)
  }
  return (
    <div class="stack tight">
      <div class="actions">
        {cameraTrouble() === null && !filming && (
          <Button icon="camera" onClick={() => setFilming(true)}>
            {t('read.scan')}
          </Button>
        )}
        <FileButton
          icon="image"
          label={t('read.photo')}
          accept="image/*"
          onFile={(picked) => void photo(picked)}
        />
      </div>
      {filming && <Film onEnd={finish} />}
      {trouble === 'unread' && <Notice tone="bad">{t('read.none')}</Notice>}
      {trouble === 'camera' && <Notice tone="bad">{t('read.camera.none')}</Notice>}
    </div>
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
