/** A form with a live preview of the command that it sends. */
import type { ComponentChildren } from 'preact'
import { command } from '../api/command.ts'
import { commandPath, type Address } from '../api/place.ts'
import { printPretty } from '../json/print-json.ts'
import type { Printable } from '../json/value.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useAction } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'
import { showToast } from '../kit/toasts.tsx'

export interface CommandDialogProps {
  readonly title: string
  readonly address: Address
  readonly command: string
  /** Returns the fields of the command. May throw while the input of the user is incomplete. */
  readonly fields: () => Printable
  readonly submitLabel: string
  readonly isDanger?: boolean
  readonly isReady?: boolean
  /** What the form lacks, as nouns. The command cannot be sent before it is complete. */
  readonly missing?: readonly string[]
  readonly doneText: string
  readonly children: ComponentChildren
  readonly size?: 'medium' | 'large'
  readonly onClose: () => void
  readonly onDone: () => void | Promise<void>
}

export function CommandDialog(props: CommandDialogProps) {
  const { title, address, fields, submitLabel, missing = [], onClose } = props
  const isReady = (props.isReady ?? true) && missing.length === 0
  const { run, isBusy, error } = useAction(async () => {
    await command(address, props.command, fields())
    showToast({ text: props.doneText })
    await props.onDone()
    onClose()
  })
  return (
    <Dialog
      title={title}
      size={props.size ?? 'large'}
      onClose={onClose}
      submit={{
        ...{ run, isBusy, label: submitLabel },
        ...{ isDisabled: !isReady, isDanger: props.isDanger === true },
        note: missing.length === 0 ? undefined : `Still missing: ${missing.join(', ')}.`,
      }}
    >
      <ErrorNotice error={error} />
      <div class="form-with-command">
        <div class="stack">{props.children}</div>
        <CodeBlock
          label={`POST /${commandPath(address)}`}
          text={preview(props.command, fields)}
        />
      </div>
    </Dialog>
  )
}

function preview(name: string, fields: () => Printable): string {
  try {
    return printPretty({ [name]: fields() })
  } catch (error) {
    return (error as Error).message
  }
}
