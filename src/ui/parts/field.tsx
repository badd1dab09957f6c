import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'

type Shared = {
  label: string
  hint?: string | undefined
  /** The validation error, shown beside the field and read out. */
  error?: string | null | undefined
  /** An element beside the input, such as a unit or a button. */
  beside?: ComponentChildren
}

type FieldProps = Shared & {
  value: string
  onText: (text: string) => void
  type?: 'text' | 'password' | 'date' | 'time' | 'search' | 'url' | 'tel'
  inputMode?: 'text' | 'decimal' | 'numeric' | 'url' | 'tel'
  maxLength?: number
  min?: string
  placeholder?: string
  autoComplete?: string
  autoCapitalize?: 'characters' | 'none'
  autoCorrect?: 'off'
  onPaste?: (event: ClipboardEvent) => void
  /** Writes the typed text in another form, such as in groups. It changes white space only. */
  reshape?: (text: string) => string
  /** Screen readers say so, and the browser marks an empty field. */
  required?: boolean
  spellcheck?: boolean
  /** The focus of a dialog or of a form begins here. */
  'data-begin'?: true
}

/** One line of text, a number or a date, with its label. */
export function Field({ label, hint, error, beside, onText, reshape, ...input }: FieldProps) {
  const id = useId()
  // The types of Preact want one literal for each kind of input.
  const attributes = { ...input, ...described(id, hint, error) } as object
  const control = (
    <input
      {...attributes}
      class="input"
      onInput={({ currentTarget: input }) => {
        if (reshape) reshapeInput(input, reshape(input.value))
        onText(input.value)
      }}
    />
  )
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      {beside ? (
        <div class="affix">
          <div class="grow">{control}</div>
          {beside}
        </div>
      ) : (
        control
      )}
    </Labelled>
  )
}

/** Write the new form of a text into its input. The caret stays behind the character that it was behind. */
function reshapeInput(input: HTMLInputElement, text: string): void {
  if (text === input.value) return
  const typed = input.value.slice(0, input.selectionStart ?? input.value.length)
  const before = typed.replace(/\s/g, '').length
  input.value = text
  let [caret, passed] = [0, 0]
  while (passed < before && caret < text.length) {
    if (text[caret++] !== ' ') passed++
  }
  input.setSelectionRange(caret, caret)
}

type TextAreaProps = Shared & {
  value: string
  onText: (text: string) => void
  maxLength?: number
  placeholder?: string
}

/** Several lines of text. */
export function TextArea({ label, hint, error, onText, ...input }: TextAreaProps) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <textarea
        {...input}
        {...described(id, hint, error)}
        class="input"
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </Labelled>
  )
}

type SelectProps<Value extends string> = Shared & {
  value: Value
  options: readonly (readonly [value: Value, text: string])[]
  onChoose: (value: Value) => void
  /** Shows the label to screen readers only. */
  quiet?: boolean
}

/** A choice of one among a few, as a list. */
export function Select<Value extends string>({
  label,
  hint,
  error,
  value,
  options,
  onChoose,
  quiet = false,
}: SelectProps<Value>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error} quiet={quiet}>
      <select
        {...described(id, hint, error)}
        class="input"
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value as Value)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

type CheckProps = { label: ComponentChildren; checked: boolean; onChange: (on: boolean) => void }

/** A checkbox. */
export function Check({ label, checked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}

type ChoicesProps<Value extends string> = {
  /** For screen readers: the heading above the cards shows it already. */
  label: string
  value: Value
  options: readonly { value: Value; text: string; badge: string }[]
  onChoose: (value: Value) => void
}

/** A choice of one among a few, as cards. */
export function Choices<Value extends string>({
  label,
  value,
  options,
  onChoose,
}: ChoicesProps<Value>) {
  const name = useId()
  return (
    <fieldset class="field">
      <legend class="unseen">{label}</legend>
      <div class="choices">
        {options.map((option) => (
          <label key={option.value} class="choice">
            <input
              type="radio"
              name={name}
              checked={option.value === value}
              onChange={() => onChoose(option.value)}
            />
            <span class="choice-badge" aria-hidden="true">
              {option.badge}
            </span>
            <span>{option.text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

type SwatchesProps<Value extends string> = {
  label: string
  value: Value
  /** `shade` is a CSS background. */
  options: readonly { value: Value; text: string; shade: string }[]
  onChoose: (value: Value) => void
}

/** A choice of a colour, each with its name for those who cannot tell it from others. */
export function Swatches<Value extends string>({
  label,
  value,
  options,
  onChoose,
}: SwatchesProps<Value>) {
  const name = useId()
  return (
    <fieldset class="field">
      <legend>{label}</legend>
      <div class="swatches">
        {options.map((option) => (
          <label key={option.value} class="swatch">
            <input
              type="radio"
              name={name}
              checked={option.value === value}
              onChange={() => onChoose(option.value)}
            />
            <span class="swatch-shade" style={{ background: option.shade }} aria-hidden="true">
              {option.value === value && <Icon name="check" size={20} />}
            </span>
            <span class="small">{option.text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

type LabelledProps = Omit<Shared, 'beside'> & {
  id: string
  quiet?: boolean
  children: ComponentChildren
}

function Labelled({ id, label, hint, error, quiet, children }: LabelledProps) {
  return (
    <div class="field">
      <label for={id} class={quiet ? 'unseen' : ''}>
        {label}
      </label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="wrong" id={`${id}-error`} role="alert">
          <Icon name="warning" size={18} />
          {error}
        </p>
      )}
    </div>
  )
}

function described(id: string, hint: string | undefined, error: string | null | undefined) {
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return { id, 'aria-invalid': Boolean(error), ...(ids && { 'aria-describedby': ids }) }
}
