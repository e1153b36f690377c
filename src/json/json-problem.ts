export type JsonProblemKind = 'syntax' | 'depth' | 'numeral' | 'values'

interface JsonProblemDetails {
  readonly kind: JsonProblemKind
  readonly offset: number
  readonly depthMax?: number
  readonly numeralLength?: number
}

/** The reason why a text was rejected. The message may be shown to the sender of the text. */
export class JsonProblem extends Error {
  readonly kind: JsonProblemKind
  /** Position of the problem: UTF-16 units from the start of the text. */
  readonly offset: number
  /** The depth that the text exceeded, when kind is 'depth'. */
  readonly depthMax: number | undefined
  /** Length of the rejected numeral, when kind is 'numeral'; undefined when it was not measured. */
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
