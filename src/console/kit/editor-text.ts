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
  /** Inserted text, when it differs from the label. */
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
  /** Checks the text beyond the JSON syntax. */
  readonly check?: Check
  /** Errors of the server. */
  readonly marks?: readonly Mark[]
  /** Called with all marks, whatever their source. */
  readonly onMarks?: (marks: readonly PlacedMark[]) => void
  /** Called on Control+Enter or Command+Enter. */
  readonly onSubmit?: () => void
  readonly isReadOnly?: boolean
  readonly hasFocus?: boolean
  readonly placeholder?: string
  /** A single line, which Enter submits. */
  readonly isSingleLine?: boolean
  /** `line` grows with its text, starting at one line; `fill` takes the available space. */
  readonly size?: 'line' | 'fill'
}
