/** Asks before a dialog discards what the user has written. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/**
 * `leave` closes the dialog, or asks first if it has changes; render `question` beside the dialog.
 * The browser also asks before it closes or reloads the page.
 */
export function useDiscard(
  isChanged: boolean,
  onClose: () => void,
): { readonly leave: () => void; readonly question: ComponentChildren } {
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    if (!isChanged) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isChanged])
  const stay = () => setAsking(false)
  return {
    leave: () => {
      if (isChanged) setAsking(true)
      else onClose()
    },
    question: isAsking && (
      <Dialog
        title="Discard your changes?"
        size="small"
        onClose={stay}
        actions={
          <>
            <Button kind="danger" class="push" onClick={onClose}>
              Discard
            </Button>
            <Button kind="primary" hasFocus onClick={stay}>
              Keep editing
            </Button>
          </>
        }
      >
        <p>What you have written has not been saved.</p>
      </Dialog>
    ),
  }
}
