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
  /** Called by Escape and the cross. Without it, the dialog has neither. */
  onClose?: () => void
  roomy?: boolean
  children: ComponentChildren
}

/**
 * A modal dialog. The focus begins at the element with `data-begin`, else at the title: the browser would take
 * the cross, where an Enter closes it. Afterwards the focus goes back.
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
      // Browsers give the focus back when a dialog closes, but not when it leaves the page.
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
      // Browsers ignore `preventDefault` at the second Escape: show it again until the page removes it.
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      <div class="dialog-head">
        <div class="titled">
          <h2 ref={heading} id={id} tabIndex={-1}>
            {title}
          </h2>
          <Toasts place={place} />
        </div>
        {onClose && <IconButton icon="close" label={t('close')} onClick={onClose} />}
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/** Marks where the focus of a dialog begins. */
const begin = { 'data-begin': '' }

type ConfirmProps = {
  title: string
  /** Text of the button that confirms. */
  action: string
  danger?: boolean
  children: ComponentChildren
  onConfirm: () => Promise<void>
  onClose: () => void
}

/** A question before an action. It stays open and shows the failure when the action fails. */
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
        {/* Before a dangerous action the focus is here, so one Enter too many cancels. */}
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
