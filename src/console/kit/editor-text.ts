/** What an editor is told about its text: pure shapes, which other parts fill. */

/** Something wrong with a part of the text. */
export interface Mark {
  readonly from: number
  readonly to: number
  readonly message: string
  readonly kind?: 'error' | 'warning'
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
