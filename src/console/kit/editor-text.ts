/** Interface between the editor and the code that completes and checks its text. */

/** An error or warning at a range of the text. */
export interface Mark {
  readonly from: number
  readonly to: number
  readonly message: string
  readonly kind?: 'error' | 'warning'
}

export interface PlacedMark extends Mark {
  /** Line number, from 1. */
  readonly line: number
}

/** Completions at the cursor. */
export interface Proposals {
  /** Start of the text that a proposal replaces. */
  readonly from: number
  readonly to?: number
  readonly options: readonly Proposal[]
}

export interface Proposal {
  readonly label: string
  /** The inserted text, if it differs from the label. */
  readonly insert?: string
  readonly detail?: string
  readonly kind?: 'field' | 'operator' | 'value'
}

export type Complete = (text: string, position: number) => Proposals | undefined
export type Check = (text: string) => readonly Mark[]

export interface EditorProps {
  readonly label: string
  readonly value: string
  readonly onChange?: (value: string) => void
  /** Completes names, operators and values. */
  readonly complete?: Complete
  /** Checks the text for errors other than those of JSON syntax. */
  readonly check?: Check
  /** Marks for the errors of the server. */
  readonly marks?: readonly Mark[]
  /** Called with all marks: JSON syntax, `check` and `marks`. */
  readonly onMarks?: (marks: readonly PlacedMark[]) => void
  /** Called on Control+Enter or Command+Enter. */
  readonly onSubmit?: () => void
  readonly isReadOnly?: boolean
  readonly hasFocus?: boolean
  readonly placeholder?: string
  /** Whether the editor has a single line, which Enter submits. */
  readonly isSingleLine?: boolean
  /** `line` starts with one line and grows with its text; `fill` takes the available space. */
  readonly size?: 'line' | 'fill'
}
