import type { ComponentChildren } from 'preact'
import { Button } from '../parts/button.tsx'
import type { Held } from './holdings.ts'
import { take } from './state.ts'

type Props = {
  held: Held
  kind?: 'primary' | 'plain'
  big?: boolean
  /** Called before the swap begins, whose progress shows on the page. */
  onTake?: () => void
  children: ComponentChildren
}

/** Swaps the code of a coupon for one that only this device has. */
export function TakeButton({ held, kind = 'primary', big = false, onTake, children }: Props) {
  return (
    <Button
      kind={kind}
      icon="lock"
      big={big}
      onClick={() => {
        onTake?.()
        take(held)
      }}
    >
      {children}
    </Button>
  )
}
