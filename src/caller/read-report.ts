/** Reports of reads, for logs and traces. */

/** How a read was planned, and what it met. Has names and counts, and no data. */
export interface ReadReport {
  /** The plan, in one line. */
  readonly plan: string
  /** Entries that the plan expected to pass; undefined: not counted. */
  readonly expected?: number | undefined
  /** Entries that were passed, and documents that were read, if the engine knows. */
  readonly entries?: number | undefined
  readonly documents?: number | undefined
  readonly elapsedMs: number
}

/** A report in one line. */
export function printReport(report: ReadReport): string {
  return `${report.plan}: ${printMet(report)}`
}

/** What a plan expected and what the read met, without names. */
export function printMet({ expected, entries, documents, elapsedMs }: ReadReport): string {
  const counts = [
    ...(expected === undefined ? [] : [`entries expected: ${Math.round(expected)}`]),
    ...(entries === undefined ? [] : [`entries passed: ${entries}`]),
    ...(documents === undefined ? [] : [`documents read: ${documents}`]),
  ]
  return `${counts.join(', ')} in ${elapsedMs.toFixed(1)} ms`.trimStart()
}

/** A report as plain data. */
export function countsOf(report: ReadReport): object {
  const { plan, expected, entries, documents, elapsedMs } = report
  return { plan, expected, entries, documents, elapsedMs }
}
