/** Reports of reads, for logs and traces. */

/** The plan of a read, and how many entries and documents it read. Contains no stored data. */
export interface ReadReport {
  /** The plan, in one line. */
  readonly plan: string
  /** Index entries to read according to the plan's estimate; undefined: there is no estimate. */
  readonly expected?: number | undefined
  /** Index entries and documents that were read, if the engine counts them. */
  readonly entries?: number | undefined
  readonly documents?: number | undefined
  readonly elapsedMs: number
}

/** A report in one line. */
export function printReport(report: ReadReport): string {
  return `${report.plan}: ${printMet(report)}`
}

/** The counts of a report in one line, without the plan. */
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
