/** Confirms a drop and names the data that it deletes. */
import { useState } from 'preact/hooks'
import type { Address } from '../api/place.ts'
import type { Printable } from '../json/value.ts'
import { TextField } from '../kit/fields.tsx'
import { CommandDialog } from './command-dialog.tsx'

export interface DropDialogProps {
  /** Noun for the object, such as "the collection". */
  readonly what: string
  readonly name: string
  readonly address: Address
  readonly command: string
  readonly fields?: Printable
  /** The data that is deleted with the object. */
  readonly loss: string
  /** Whether the user has to type the name, because the drop cannot be undone. */
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
