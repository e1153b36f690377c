/** Toasts: short messages about the latest action. */
import { Store } from '../api/store.ts'
import { Button } from './button.tsx'
import { useStore } from './hooks.ts'

export interface Toast {
  readonly text: string
  readonly kind?: 'good' | 'error'
  /** Label of the action, such as "Undo". */
  readonly action?: { readonly label: string; readonly run: () => void }
}

interface ShownToast extends Toast {
  readonly id: number
}

const toasts = new Store<readonly ShownToast[]>([])
let lastId = 0

/** Milliseconds for which a message without an action is shown. */
const shownForMs = 6000
const actionForMs = 30_000

export function showToast(toast: Toast): void {
  const id = ++lastId
  toasts.update((shown) => [...shown.slice(-3), { ...toast, id }])
  setTimeout(() => hide(id), toast.action === undefined ? shownForMs : actionForMs)
}

function hide(id: number): void {
  toasts.update((shown) => shown.filter((toast) => toast.id !== id))
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text, kind = 'good', action }) => (
        <div key={id} class={`toast ${kind}`}>
          <span>{text}</span>
          {action !== undefined && (
            <Button
              icon="undo"
              onClick={() => {
                hide(id)
                action.run()
              }}
            >
              {action.label}
            </Button>
          )}
          <Button icon="close" label="Dismiss" kind="quiet" onClick={() => hide(id)} />
        </div>
      ))}
    </div>
  )
}
