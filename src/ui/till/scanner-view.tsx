import { useEffect, useRef, useState } from 'preact/hooks'
import { type Camera, type CameraTrouble, openCamera } from '../browser/camera.ts'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/notice.tsx'
import { tillWords as t } from '../words/till.ts'
import { cameraOpen, notCoupon, takeFilmed } from './state.ts'

/** The picture of the camera, until it reads a coupon. */
export function ScannerView() {
  const video = useRef<HTMLVideoElement>(null)
  const [camera, setCamera] = useState<Camera | null>(null)
  const [trouble, setTrouble] = useState<CameraTrouble | null>(null)
  const [lit, setLit] = useState(false)
  useEffect(() => {
    const { current } = video
    if (!current) return
    let opened: Camera | null = null
    let closed = false
    const open = async () => {
      const answer = await openCamera(current, takeFilmed)
      if (typeof answer === 'string') return setTrouble(answer)
      // The view closed while the browser asked for permission.
      if (closed) return answer.stop()
      opened = answer
      setCamera(answer)
    }
    void open()
    return () => {
      closed = true
      opened?.stop()
    }
  }, [])
  const light = camera?.light
  const looks = notCoupon.value
  return (
    <div class="stack">
      {trouble ? (
        <Notice tone="bad">{t(`camera.${trouble}`)}</Notice>
      ) : (
        <div class="viewfinder">
          <video ref={video} muted playsInline aria-label={t('camera.aim')} />
          <p class="viewfinder-hint">{t('camera.aim')}</p>
        </div>
      )}
      {looks && <Notice tone="wait">{t(`redeem.other.${looks}`)}</Notice>}
      <div class="row middle">
        {light && (
          <Button
            icon="sun"
            aria-pressed={lit}
            onClick={() => {
              setLit(!lit)
              void light(!lit)
            }}
          >
            {t('camera.light')}
          </Button>
        )}
        <Button icon="close" onClick={() => (cameraOpen.value = false)}>
          {t('camera.stop')}
        </Button>
      </div>
    </div>
  )
}
