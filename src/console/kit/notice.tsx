/** Inline messages that tell the user what to do. */
import type { ComponentChildren } from 'preact'
import { CommandError, type ApiProblem } from '../api/command.ts'
import { Button } from './button.tsx'

export interface NoticeProps {
  readonly kind?: 'info' | 'warning' | 'error' | 'good'
  readonly title?: ComponentChildren
  readonly children?: ComponentChildren
  readonly onClose?: () => void
}

export function Notice({ kind = 'info', title, children, onClose }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <div class="notice-text">
        {title !== undefined && <strong>{title}</strong>}
        {children !== undefined && <div>{children}</div>}
      </div>
      {onClose !== undefined && (
        <Button icon="close" label="Dismiss" kind="quiet" onClick={onClose} />
      )}
    </div>
  )
}

/** Shows any thrown value. An error of the API is shown with its message and code. */
export function ErrorNotice({
  error,
  onClose,
}: {
  readonly error: unknown
  readonly onClose?: () => void
}) {
  if (error === undefined || error === null) return null
  const closing = onClose === undefined ? {} : { onClose }
  if (error instanceof CommandError && error.errors.length > 0)
    return (
      <Notice kind="error" {...closing}>
        <Problems problems={error.errors} />
      </Notice>
    )
  return (
    <Notice kind="error" {...closing}>
      {messageOf(error)}
    </Notice>
  )
}

/** The error message on one line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error)
}

export function Warnings({ warnings }: { readonly warnings: readonly ApiProblem[] }) {
  if (warnings.length === 0) return null
  return (
    <Notice kind="warning">
      <Problems problems={warnings} />
    </Notice>
  )
}

function Problems({ problems }: { readonly problems: readonly ApiProblem[] }) {
  return (
    <ul class="problems">
      {problems.slice(0, 20).map((problem, position) => (
        <li key={position}>
          <span class="problem-message">{problem.message}</span>{' '}
          <code class="problem-code">{problem.errorCode}</code>
        </li>
      ))}
    </ul>
  )
}

/** Placeholder for an empty list, which offers the next step. */
export function EmptyState({
  title,
  children,
  actions,
}: {
  readonly title: ComponentChildren
  readonly children?: ComponentChildren
  readonly actions?: ComponentChildren
}) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children !== undefined && <div class="empty-text">{children}</div>}
      {actions !== undefined && <div class="empty-actions">{actions}</div>}
    </div>
  )
}

export function Loading({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <div class="loading" role="status">
      {label}…
    </div>
  )
}
