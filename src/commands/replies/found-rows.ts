import { asFloats } from '../../json/floats.ts'
import type { FoundRows } from '../../tables/read/find-rows.ts'

/** What a reply says about rows besides showing them: only what applies. */
export function printFound(found: FoundRows, includeSortVector: boolean) {
  const { projectionSchema, sortedRowCount, sortVector, warnings } = found
  return {
    status: {
      projectionSchema,
      sortedRowCount,
      sortVector:
        includeSortVector && sortVector !== undefined ? asFloats(sortVector) : undefined,
    },
    warnings,
  }
}
