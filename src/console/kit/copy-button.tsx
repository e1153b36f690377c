import { useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** Copies a text and confirms it briefly. */
export function CopyButton({
  text,
  label = 'Copy',
  kind = 'quiet',
}: {
  readonly text: string | (() => string)
  readonly label?: string
  readonly kind?: 'quiet' | 'normal'
}) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : text())
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <Button icon={isDone ? 'check' : 'copy'} kind={kind} onClick={() => void copy()}>
      {isDone ? 'Copied' : label}
    </Button>
  )
}

/**
 * Copies a text to the clipboard. Browsers offer the clipboard API only over HTTPS. Over plain
 * HTTP, the function copies the selection of a hidden text field instead.
 */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) {
    await navigator.clipboard.writeText(text)
    return
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'unseen'
  ;(document.querySelector('dialog[open]') ?? document.body).append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
