import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

type Props<Name extends string> = {
  label: string
  tabs: readonly (readonly [name: Name, text: string])[]
  chosen: Name
  onChoose: (name: Name) => void
  children: ComponentChildren
}

/** Tabs after the ARIA pattern: arrow keys choose, and the chosen panel shows. */
export function Tabs<Name extends string>({
  label,
  tabs,
  chosen,
  onChoose,
  children,
}: Props<Name>) {
  const id = useId()
  const row = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 }
    const step = steps[event.key]
    if (step === undefined) return
    const at = tabs.findIndex(([name]) => name === chosen)
    const [name] = tabs[(at + step + tabs.length) % tabs.length] ?? []
    if (name === undefined) return
    event.preventDefault()
    onChoose(name)
    row.current?.querySelector<HTMLElement>(`[data-tab="${name}"]`)?.focus()
  }
  return (
    <div class="stack">
      <div ref={row} class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(([name, text]) => (
          <button
            key={name}
            type="button"
            class="tab"
            role="tab"
            data-tab={name}
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  )
}
