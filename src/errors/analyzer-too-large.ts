/** The definition of an analyzer exceeds the memory for compiled analyzers. */
export class AnalyzerTooLarge extends Error {
  /** Estimated size in bytes. */
  readonly size: number
  readonly max: number

  constructor(size: number, max: number) {
    super(`the analyzer would take ${size} bytes of memory, and ${max} are allowed`)
    this.name = 'AnalyzerTooLarge'
    this.size = size
    this.max = max
  }
}
