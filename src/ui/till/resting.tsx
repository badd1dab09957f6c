import type { ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'

/** How long the second tap of a hurried finger may take. */
const restMs = 400

/** False for a moment after a screen came up: what is under a finger then is not what it tapped. */
export function useRested(): boolean {
  const [rested, setRested] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), restMs)
    return () => clearTimeout(timer)
  }, [])
  return rested
}

type Props = Omit<ComponentProps<typeof Button>, 'onClick'> & { onClick: () => void }

/**
 * A button that may come up where another was: the second tap of two does not press it. A Tab finds it
 * meanwhile, as it would not find a disabled one.
 */
export function RestingButton({ class: extra, onClick, ...button }: Props) {
  const rested = useRested()
  return (
    <Button
      {...button}
      class={`resting ${String(extra ?? '')}`}
      aria-disabled={!rested}
      onClick={() => rested && onClick()}
    />
  )
}
