import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

type Props = {
  summary: string
  /** Whether it begins open. */
  open?: boolean
  /** Whether it has a validation error: in a closed part, nobody would find it. */
  wrong: boolean
  children: ComponentChildren
}

/** A part of a form that is folded until somebody opens it, or until it has an error. */
export function Fold({ summary, open = false, wrong, children }: Props) {
  const [chosen, setChosen] = useState(open)
  return (
    <details
      open={chosen || wrong}
      onToggle={({ currentTarget: part }) => {
        if (wrong) part.open = true
        // Noted for an error, too: once that is mended, the part must not close over the cursor.
        setChosen(part.open)
      }}
    >
      <summary>{summary}</summary>
      {children}
    </details>
  )
}
