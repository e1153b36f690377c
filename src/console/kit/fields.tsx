/** Form controls with labels. */
import type { ComponentChildren } from 'preact'
import { useName } from './hooks.ts'

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly isLabelHidden?: boolean
  readonly class?: string
  /** Receives the ids of the control and of its hint. */
  readonly children: (ids: {
    readonly id: string
    readonly describedBy: string | undefined
  }) => ComponentChildren
}

export function Field({
  label,
  hint,
  error,
  isLabelHidden,
  children,
  ...rest
}: FieldProps) {
  const id = useName('field')
  const hasNote = hint !== undefined || error !== undefined
  return (
    <div class={`field ${rest.class ?? ''}`}>
      <label for={id} class={isLabelHidden === true ? 'unseen' : undefined}>
        {label}
      </label>
      {children({ id, describedBy: hasNote ? `${id}-note` : undefined })}
      {hasNote && (
        <div id={`${id}-note`} class={error === undefined ? 'hint' : 'hint bad'}>
          {error ?? hint}
        </div>
      )}
    </div>
  )
}

type Common = Pick<FieldProps, 'label' | 'hint' | 'error' | 'isLabelHidden' | 'class'>

/**
 * The properties that all fields share. Absent properties are omitted, because
 * exactOptionalPropertyTypes forbids passing undefined.
 */
function commonOf(props: Common): Common {
  const { label, hint, error, isLabelHidden } = props
  return {
    label,
    error,
    ...(hint === undefined ? {} : { hint }),
    ...(isLabelHidden === undefined ? {} : { isLabelHidden }),
    ...(props.class === undefined ? {} : { class: props.class }),
  }
}

export interface TextFieldProps extends Common {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'password' | 'number' | 'search' | 'datetime-local'
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly isMonospaced?: boolean
  readonly isDisabled?: boolean
  readonly hasFocus?: boolean
  readonly min?: number
  readonly max?: number
  /** Proposals of a datalist. */
  readonly proposals?: readonly string[]
  readonly onEnter?: () => void
}

export function TextField(props: TextFieldProps) {
  const { value, onChange, type = 'text', proposals } = props
  return (
    <Field {...commonOf(props)}>
      {({ id, describedBy }) => (
        <>
          <input
            id={id}
            type={type as 'text'}
            value={value}
            placeholder={props.placeholder}
            required={props.isRequired}
            disabled={props.isDisabled}
            min={props.min}
            max={props.max}
            class={props.isMonospaced === true ? 'monospaced' : undefined}
            spellcheck={false}
            autocomplete="off"
            autofocus={props.hasFocus}
            list={proposals === undefined ? undefined : `${id}-list`}
            aria-describedby={describedBy}
            aria-invalid={props.error !== undefined}
            onInput={(event) => onChange(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') props.onEnter?.()
            }}
          />
          {proposals !== undefined && (
            <datalist id={`${id}-list`}>
              {proposals.map((proposal) => (
                <option key={proposal} value={proposal} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

export interface Choice<T extends string> {
  readonly value: T
  readonly label?: string
  readonly isDisabled?: boolean
}

export interface SelectFieldProps<T extends string> extends Common {
  readonly value: T
  readonly choices: readonly (Choice<T> | T)[]
  readonly onChange: (value: T) => void
  readonly isDisabled?: boolean
}

export function SelectField<T extends string>(props: SelectFieldProps<T>) {
  return (
    <Field {...commonOf(props)}>
      {({ id, describedBy }) => (
        <select
          id={id}
          value={props.value}
          disabled={props.isDisabled}
          aria-describedby={describedBy}
          onChange={(event) => props.onChange(event.currentTarget.value as T)}
        >
          {props.choices.map((choice) => {
            const { value, label, isDisabled }: Choice<T> =
              typeof choice === 'string' ? { value: choice } : choice
            return (
              <option
                key={value}
                value={value}
                selected={value === props.value}
                disabled={isDisabled}
              >
                {label ?? value}
              </option>
            )
          })}
        </select>
      )}
    </Field>
  )
}

export interface CheckFieldProps {
  readonly label: ComponentChildren
  readonly value: boolean
  readonly onChange: (value: boolean) => void
  readonly hint?: ComponentChildren
  readonly isDisabled?: boolean
}

export function CheckField({ label, value, onChange, hint, isDisabled }: CheckFieldProps) {
  const id = useName('check')
  return (
    <div class="check-field">
      <input
        id={id}
        type="checkbox"
        checked={value}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <div id={`${id}-note`} class="hint">
          {hint}
        </div>
      )}
    </div>
  )
}
