import type { ComponentChildren, Ref } from 'preact'
import { Icon, type IconName } from './icons.tsx'

export interface ButtonProps {
  readonly children?: ComponentChildren
  readonly icon?: IconName
  /** Accessible label; required for a button that shows only an icon. */
  readonly label?: string
  readonly kind?: 'primary' | 'danger' | 'quiet' | 'normal'
  readonly isSubmit?: boolean
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  readonly isPressed?: boolean
  /** Whether the button has the focus when its dialog opens. */
  readonly hasFocus?: boolean
  readonly title?: string
  readonly class?: string
  readonly onClick?: (event: MouseEvent) => void
  readonly buttonRef?: Ref<HTMLButtonElement>
}

export function Button(props: ButtonProps) {
  const { children, icon, label, kind = 'normal', isBusy = false } = props
  return (
    <button
      ref={props.buttonRef ?? null}
      type={props.isSubmit === true ? 'submit' : 'button'}
      class={`button ${kind} ${children === undefined ? 'icon-only' : ''} ${props.class ?? ''}`}
      aria-label={label}
      aria-pressed={props.isPressed}
      aria-busy={isBusy}
      title={props.title ?? label}
      autofocus={props.hasFocus}
      disabled={props.isDisabled === true || isBusy}
      onClick={props.onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  )
}
