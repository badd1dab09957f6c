import { useRef } from 'preact/hooks'
import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'

type Props = {
  icon: IconName
  /** Text of the button. */
  label: string
  /** Types of files, as the browser's dialog takes them. */
  accept: string
  /** Opens the camera of a phone. */
  camera?: boolean
  onFile: (file: File) => void
}

/** A button that lets the person choose one file of the device. */
export function FileButton({ icon, label, accept, camera = false, onFile }: Props) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button icon={icon} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        class="unseen"
        type="file"
        accept={accept}
        {...(camera && { capture: 'environment' as const })}
        tabIndex={-1}
        aria-label={label}
        onChange={(event) => {
          const [picked] = event.currentTarget.files ?? []
          if (picked) onFile(picked)
          // Without it, the same file chosen again would be no change.
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}
