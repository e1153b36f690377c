import { asFloats } from '../../json/floats.ts'
import type { FoundRows } from '../../tables/read/find-rows.ts'

/** Status and warnings of a reply with rows. */
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
