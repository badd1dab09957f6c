import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { commonWords as t } from '../words/common.ts'
import { failureText } from '../words/signer.ts'
import { arrive } from './arrival.ts'
import { useAttempt } from './attempt.ts'
import { Button, IconButton } from './button.tsx'
import { Notice } from './notice.tsx'
import { Toasts, useToastPlace } from './toast.tsx'

type Props = {
  title: string
  /** Escape and the cross; without it there is no way round. */
  onClose?: () => void
  roomy?: boolean
  children: ComponentChildren
}

/**
 * A question in front of the page. The browser keeps the focus inside; it goes back to where it was. It
 * begins at what is marked with `data-begin`, else at the title, and never at the cross that puts it away.
 */
export function Dialog({ title, onClose, roomy = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const id = useId()
  const place = useToastPlace()
  useEffect(() => {
    const shown = dialog.current
    const before = document.activeElement
    shown?.showModal()
    const start = shown?.querySelector<HTMLElement>('[data-begin]') ?? heading.current
    start?.focus()
    return () => {
      shown?.close()
      // By now the dialog is gone from the page, and browsers give the focus back only to one that is not.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      else arrive(document.querySelector<HTMLElement>('#main h1'))
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={roomy ? 'dialog roomy' : 'dialog'}
      aria-labelledby={id}
      {...(!onClose && { closedby: 'none' })}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      // Browsers close it at the second Escape whatever we say: it is gone when we take it away.
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      <div class="dialog-head">
        <h2 ref={heading} id={id} tabIndex={-1}>
          {title}
        </h2>
        {onClose && <IconButton icon="close" label={t('close')} onClick={onClose} />}
      </div>
      <div class="dialog-body">{children}</div>
      <Toasts place={place} />
    </dialog>
  )
}

/** Marks where the focus of a dialog begins. */
const begin = { 'data-begin': '' }

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
  const { busy, failure, attempt } = useAttempt()
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {children}
        {failure !== null && <Notice tone="bad">{failureText(failure)}</Notice>}
      </div>
      <div class="dialog-foot">
        {/* Where it cannot be undone, an Enter too many only goes back. */}
        <Button onClick={onClose} {...(danger && begin)}>
          {t('cancel')}
        </Button>
        <Button
          kind={danger ? 'danger' : 'primary'}
          busy={busy}
          onClick={() => void attempt(onConfirm)}
          {...(!danger && begin)}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
