import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { commonWords as t } from '../words/common.ts'
import { failureText } from '../words/signer.ts'
import { Button, IconButton } from './button.tsx'
import { Notice } from './notice.tsx'

type Props = {
  title: string
  /** Escape and the cross; without it there is no way round. */
  onClose?: () => void
  roomy?: boolean
  children: ComponentChildren
}

/** A question in front of the page. The browser keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, roomy = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={roomy ? 'dialog roomy' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose && <IconButton icon="close" label={t('close')} onClick={onClose} />}
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

type ConfirmProps = {
  title: string
  /** What the button says that does it. */
  action: string
  danger?: boolean
  children: ComponentChildren
  onConfirm: () => Promise<void>
  onClose: () => void
}

/** Asks before it does; stays open and says why when it could not. */
export function Confirm({
  title,
  action,
  danger = false,
  children,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const confirm = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await onConfirm()
    } catch (cause) {
      setFailure(cause)
    }
    setBusy(false)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {children}
        {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button kind={danger ? 'danger' : 'primary'} busy={busy} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
