import type { ComponentProps } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'

/** Longest time between the two taps of a double tap. */
const restMs = 400

/** False for `restMs` after a screen appeared: a finger that taps twice would press a button it has not seen. */
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
 * A button that may appear where another was, so it ignores the second tap of a double tap. It is not disabled
 * meanwhile: the keyboard would lose its place.
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
