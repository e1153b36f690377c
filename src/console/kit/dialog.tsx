/** A modal dialog. The browser keeps the focus inside the dialog, and Escape asks to close it. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'
import { useName } from './hooks.ts'

export interface DialogProps {
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons at the bottom of a dialog without a form. */
  readonly actions?: ComponentChildren
  readonly size?: 'small' | 'medium' | 'large'
  /** Makes the dialog a form with a Cancel button and a submit button. Enter submits the form. */
  readonly submit?: Submit
}

interface Submit {
  readonly label: string
  readonly run: () => void
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  readonly isDanger?: boolean
  /** Shown beside the buttons, such as what is missing. */
  readonly note?: string | undefined
}

/** The element with the focus, also inside an editor, which is in a shadow root. */
function focusedElement(): Element | null {
  const { activeElement } = document
  return activeElement?.shadowRoot?.activeElement ?? activeElement
}

/** The open dialogs; the last one is on top. */
const shown: HTMLDialogElement[] = []

export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, size = 'medium', submit } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const name = useName('dialog')
  const latest = useRef(onClose)
  latest.current = onClose
  // This is a layout effect, so that the dialog has the focus before the next key press.
  useLayoutEffect(() => {
    const element = dialog.current!
    const before = focusedElement()
    element.showModal()
    shown.push(element)
    // Browsers close a dialog on a second Escape even if the page has prevented the first one, so
    // the page handles the key itself.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || shown.at(-1) !== element)
        return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('keydown', onKey)
      shown.splice(shown.indexOf(element), 1)
      element.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const inside = (
    <>
      <header>
        <h2 id={name}>{title}</h2>
        <Button icon="close" label="Close" kind="quiet" onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <footer>{actions}</footer>}
      {submit !== undefined && (
        <footer>
          {submit.note !== undefined && (
            <span class="hint push" role="status">
              {submit.note}
            </span>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={submit.isDanger === true ? 'danger' : 'primary'}
            isSubmit
            isBusy={submit.isBusy ?? false}
            isDisabled={submit.isDisabled ?? false}
          >
            {submit.label}
          </Button>
        </footer>
      )}
    </>
  )
  return (
    <dialog
      ref={dialog}
      class={`dialog ${size}`}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      {submit === undefined ? (
        <div class="dialog-inside">{inside}</div>
      ) : (
        <form
          class="dialog-inside"
          onSubmit={(event) => {
            event.preventDefault()
            submit.run()
          }}
        >
          {inside}
        </form>
      )}
    </dialog>
  )
}
