/** Dialog that all forms use to create a named object. */
import type { ComponentChildren } from 'preact'
import type { Printable } from '../json/value.ts'
import { TextField } from '../kit/fields.tsx'
import { CommandDialog } from './command-dialog.tsx'

export interface CreateProps {
  readonly database: string
  readonly keyspace: string
  readonly onClose: () => void
  readonly onDone: (name: string) => void | Promise<void>
}

export interface CreateDialogProps extends Omit<CreateProps, 'keyspace'> {
  /** Noun for the object, such as "collection". */
  readonly what: string
  /** The keyspace of the object; absent for a keyspace. */
  readonly keyspace?: string
  readonly command: string
  readonly name: string
  readonly onName: (name: string) => void
  readonly fields: () => Printable
  /** What the form lacks, as nouns; by default, the name if it is empty. */
  readonly missing?: readonly string[]
  /** Form fields in addition to the name. */
  readonly children?: ComponentChildren
}

export function CreateDialog(props: CreateDialogProps) {
  const { what, database, keyspace, name, children } = props
  return (
    <CommandDialog
      title={`Create a ${what}${keyspace === undefined ? '' : ` in ${keyspace}`}`}
      size={children === undefined ? 'medium' : 'large'}
      address={{ database, ...(keyspace === undefined ? {} : { keyspace }) }}
      command={props.command}
      fields={props.fields}
      submitLabel={`Create ${what}`}
      missing={props.missing ?? (name === '' ? ['a name'] : [])}
      doneText={`Created ${name}.`}
      onClose={props.onClose}
      onDone={() => props.onDone(name)}
    >
      <TextField
        label="Name"
        value={name}
        onChange={props.onName}
        hint="1 to 48 letters, digits and underscores."
        hasFocus
        isRequired
      />
      {children}
    </CommandDialog>
  )
}
