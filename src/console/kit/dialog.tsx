/** A modal dialog. The browser keeps the focus inside the dialog, and Escape closes it. */
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

export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, size = 'medium', submit } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const name = useName('dialog')
  // This is a layout effect, so that the dialog has the focus before the next key press.
  useLayoutEffect(() => {
    const element = dialog.current!
    const before = document.activeElement
    element.showModal()
    return () => {
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
