/** Editor of a value in its cell: a field, and the kind of the value. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { Value } from '../json/value.ts'
import { useAction } from '../kit/hooks.ts'
import { messageOf } from '../kit/notice.tsx'
import { cellKinds, readCell, type CellKind } from './cell-value.ts'
import { CellConflict, isSameValue } from './change-cell.ts'

/** The unsaved state of a cell editor. The grid keeps it while the cell is scrolled out of view. */
export interface CellDraft {
  readonly text: string
  readonly kind: CellKind
}

/** What has the focus after the editor: its cell, the next cell, or what the user has chosen. */
export type NextFocus = 'stay' | 'right' | 'elsewhere'

export interface CellEditorProps {
  readonly place: Place
  readonly path: readonly string[]
  /** The value that the grid shows; undefined if the document has none. */
  readonly value: Value | undefined
  readonly draft: CellDraft
  /** Whether the user has changed the draft. */
  readonly isChanged: boolean
  /** Whether the editor extends to the left of its cell. */
  readonly isAtEnd: boolean
  readonly onDraft: (draft: CellDraft) => void
  /** Writes the value if it still is `before`. */
  readonly onSave: (before: Value | undefined, after: Value) => Promise<void>
  /** Closes the editor. The grid then has the focus, unless the user has moved it elsewhere. */
  readonly onClose: (next: NextFocus) => void
}

export function CellEditor(props: CellEditorProps) {
  const { place, path, draft, isChanged, onDraft, onSave, onClose } = props
  const frame = useRef<HTMLDivElement>(null)
  const [before, setBefore] = useState(props.value)
  const name = path.join('.')
  const isColumn = place.kind === 'table'
  const { run, isBusy, error } = useAction(async (next: NextFocus) => {
    const after = readCell(draft.text, draft.kind, isColumn)
    if (before === undefined || !isSameValue(before, after))
      await onSave(before, after).catch((reason: unknown) => {
        if (reason instanceof CellConflict) setBefore(() => reason.current)
        throw reason
      })
    close(next)
  })
  /** Whether the editor is closing. It then loses the focus, which must not save the text. */
  const isClosing = useRef(false)
  const close = (next: NextFocus) => {
    isClosing.current = true
    onClose(next)
  }
  const finish = (next: NextFocus) => {
    if (isChanged) run(next)
    else close(next)
  }
  // This is a layout effect, so that the field has the focus before the next key press.
  useLayoutEffect(() => {
    const field = frame.current!.querySelector<HTMLInputElement>('.cell-input')
    field?.focus()
    if (field instanceof HTMLInputElement) field.select()
  }, [draft.kind])
  const onKey = (event: KeyboardEvent) => {
    const { key } = event
    if (key === 'Enter') finish('stay')
    else if (key === 'Escape') close('stay')
    else if (key === 'Tab' && event.target !== frame.current!.querySelector('.cell-kind'))
      finish('right')
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const note = error === undefined ? undefined : messageOf(error)
  return (
    <div
      ref={frame}
      class={`cell-editor ${props.isAtEnd ? 'at-end' : ''}`}
      role="group"
      aria-label={`Edit ${name}`}
      onKeyDown={onKey}
      onClick={(event) => event.stopPropagation()}
      onDblClick={(event) => event.stopPropagation()}
      onContextMenu={(event) => event.stopPropagation()}
      onFocusOut={(event) => {
        const isInside = frame.current!.contains(event.relatedTarget as Node | null)
        // The window itself may have lost the focus. In that case, the user continues later.
        if (!isInside && document.hasFocus() && !isBusy && !isClosing.current)
          finish('elsewhere')
      }}
    >
      <Input draft={draft} name={name} isBusy={isBusy} onDraft={onDraft} />
      <select
        class="cell-kind"
        aria-label="Type of the value"
        value={draft.kind}
        onChange={(event) =>
          onDraft(withKind(draft, event.currentTarget.value as CellKind))
        }
      >
        {cellKinds(place, path).map((kind) => (
          <option key={kind} value={kind} selected={kind === draft.kind}>
            {kind}
          </option>
        ))}
      </select>
      {note !== undefined && (
        <div class="cell-problem" role="alert">
          {note}
        </div>
      )}
    </div>
  )
}

function Input({
  draft,
  name,
  isBusy,
  onDraft,
}: {
  readonly draft: CellDraft
  readonly name: string
  readonly isBusy: boolean
  readonly onDraft: (draft: CellDraft) => void
}) {
  const { kind, text } = draft
  const common = { class: 'cell-input', 'aria-label': name }
  if (kind === 'boolean')
    return (
      <select
        {...common}
        value={text}
        onChange={(event) => onDraft({ kind, text: event.currentTarget.value })}
      >
        {['true', 'false'].map((word) => (
          <option key={word} value={word} selected={word === text}>
            {word}
          </option>
        ))}
      </select>
    )
  if (kind === 'null') return <input {...common} value="null" readOnly />
  return (
    <input
      {...common}
      value={text}
      readOnly={isBusy}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => onDraft({ kind, text: event.currentTarget.value })}
    />
  )
}

/** The draft with another kind. The text stays, so that switching back restores the value. */
function withKind({ text }: CellDraft, kind: CellKind): CellDraft {
  if (kind === 'boolean') return { kind, text: text === 'false' ? 'false' : 'true' }
  return { kind, text }
}
