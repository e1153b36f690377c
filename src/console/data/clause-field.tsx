/** Editor of a clause, with completion and checks. */
import { useMemo } from 'preact/hooks'
import { checkClause } from '../completion/check-clause.ts'
import type { Clause } from '../completion/clause-shape.ts'
import { completeClause } from '../completion/complete-clause.ts'
import type { FieldList } from '../completion/field-paths.ts'
import { Editor } from '../kit/editor.tsx'
import type { EditorProps } from '../kit/editor-text.ts'
import { marksOf } from './text-marks.ts'

export interface ClauseFieldProps extends Pick<
  EditorProps,
  'value' | 'onChange' | 'onSubmit' | 'placeholder' | 'isSingleLine' | 'size' | 'hasFocus'
> {
  readonly clause: Clause
  readonly fields: FieldList
  /** The command that contains the clause. */
  readonly command?: string
  readonly isLabelHidden?: boolean
  readonly class?: string
  /** The error of the server that concerns the clause. */
  readonly error?: unknown
}

export function ClauseField(props: ClauseFieldProps) {
  const { clause, fields, command = 'find', isLabelHidden = false, error, ...rest } = props
  const label = clause.charAt(0).toUpperCase() + clause.slice(1)
  const context = useMemo(
    () => ({ clause, command, list: fields }),
    [clause, command, fields],
  )
  const marks = useMemo(() => marksOf(error, props.value), [error])
  const editor = (
    <Editor
      {...rest}
      label={label}
      complete={completeClause(context)}
      check={checkClause(context)}
      marks={marks}
    />
  )
  if (isLabelHidden) return editor
  return (
    <div class={`field ${props.class ?? ''}`}>
      <span class="field-label" aria-hidden="true">
        {label}
      </span>
      {editor}
    </div>
  )
}
