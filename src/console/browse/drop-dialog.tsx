/** Asks before something is dropped with all that it holds. */
import { useState } from 'preact/hooks'
import type { Address } from '../api/place.ts'
import type { Printable } from '../json/value.ts'
import { TextField } from '../kit/fields.tsx'
import { CommandDialog } from './command-dialog.tsx'

export interface DropDialogProps {
  /** Such as "the collection". */
  readonly what: string
  readonly name: string
  readonly address: Address
  readonly command: string
  readonly fields?: Printable
  /** What goes with it. */
  readonly loss: string
  /** Whether the name has to be typed: for what cannot be had back. */
  readonly mustType?: boolean
  readonly onClose: () => void
  readonly onDone: () => void | Promise<void>
}

export function DropDialog(props: DropDialogProps) {
  const { what, name, mustType = true } = props
  const [typed, setTyped] = useState('')
  return (
    <CommandDialog
      title={`Drop ${what} ${name}?`}
      size="medium"
      address={props.address}
      command={props.command}
      fields={() => props.fields ?? { name }}
      submitLabel={`Drop ${name}`}
      isDanger
      isReady={!mustType || typed === name}
      doneText={`Dropped ${name}.`}
      onClose={props.onClose}
      onDone={props.onDone}
    >
      <p>{props.loss}</p>
      {mustType && (
        <TextField
          label={`Type ${name} to confirm`}
          value={typed}
          onChange={setTyped}
          hasFocus
        />
      )}
    </CommandDialog>
  )
}
