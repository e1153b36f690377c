/** What an editor is told, and tells: pure shapes, which other parts fill. */

/** Something wrong with a part of the text. */
export interface Mark {
  readonly from: number
  readonly to: number
  readonly message: string
  readonly kind?: 'error' | 'warning'
}

export interface PlacedMark extends Mark {
  /** 1 for the first. */
  readonly line: number
}

/** What could stand where the cursor is. */
export interface Proposals {
  /** Where the text starts that a proposal replaces. */
  readonly from: number
  readonly to?: number
  readonly options: readonly Proposal[]
}

export interface Proposal {
  readonly label: string
  /** What is written, if it is something else than the label. */
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
  /** Proposals for names, operators and values. */
  readonly complete?: Complete
  /** What is wrong with the text, besides not being JSON. */
  readonly check?: Check
  /** What the server had against it. */
  readonly marks?: readonly Mark[]
  /** Hears of all marks, by this editor. */
  readonly onMarks?: (marks: readonly PlacedMark[]) => void
  /** Control or Command with Enter. */
  readonly onSubmit?: () => void
  readonly isReadOnly?: boolean
  readonly hasFocus?: boolean
  readonly placeholder?: string
  /** Enter alone submits, and there is one line. */
  readonly isSingleLine?: boolean
  /** `line` grows with its text from one line on; `fill` takes all the room. */
  readonly size?: 'line' | 'fill'
}
