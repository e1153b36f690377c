/** Thrown when an analyzer needs more memory than compiled analyzers may use. */
export class AnalyzerTooLarge extends Error {
  /** Estimated size in bytes. */
  readonly size: number
  readonly max: number

  constructor(size: number, max: number) {
    super(`the analyzer would take ${size} bytes of memory; the maximum is ${max}`)
    this.name = 'AnalyzerTooLarge'
    this.size = size
    this.max = max
  }
}
