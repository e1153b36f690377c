export type JsonProblemKind = 'syntax' | 'depth' | 'numeral' | 'values'

interface JsonProblemDetails {
  readonly kind: JsonProblemKind
  readonly offset: number
  readonly depthMax?: number
  readonly numeralLength?: number
}

/** Why a text was refused. The message is fit to be shown to the sender of the text. */
export class JsonProblem extends Error {
  readonly kind: JsonProblemKind
  /** In UTF-16 units from the start of the text. */
  readonly offset: number
  /** The depth that the text exceeded, when kind is 'depth'. */
  readonly depthMax: number | undefined
  /** The length of the offending numeral, when kind is 'numeral' and it is not absurd. */
  readonly numeralLength: number | undefined

  constructor(what: string, details: JsonProblemDetails) {
    super(`${what}, at offset ${details.offset}`)
    this.name = 'JsonProblem'
    this.kind = details.kind
    this.offset = details.offset
    this.depthMax = details.depthMax
    this.numeralLength = details.numeralLength
  }
}
