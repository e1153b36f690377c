/** The definition of an analyzer takes more memory than all compiled analyzers may. */
export class AnalyzerTooLarge extends Error {
  /** Bytes, estimated. */
  readonly size: number
  readonly max: number

  constructor(size: number, max: number) {
    super(`the analyzer would take ${size} bytes of memory, and ${max} are allowed`)
    this.name = 'AnalyzerTooLarge'
    this.size = size
    this.max = max
  }
}
