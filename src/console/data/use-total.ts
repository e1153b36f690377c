/** The number of documents that match the query of the Data tab. */
import type { Place } from '../api/place.ts'
import { printJson } from '../json/print-json.ts'
import { useLoad } from '../kit/hooks.ts'
import { countMatching, type Matching } from './change-documents.ts'
import type { DataQuery } from './data-query.ts'
import type { Pages } from './use-pages.ts'

/**
 * The number of matches; undefined while it is unknown. Documents are counted if the page is not the
 * last one. The API does not count rows.
 */
export function useTotal(
  place: Place,
  query: DataQuery,
  pages: Pages,
  /** Number of all records of the collection or table, if it is known. */
  all: number | undefined,
): Matching | undefined {
  const { filter, similarTo, ids } = query
  const { page, before, isLoading } = pages
  const isFiltered = filter.size > 0 && similarTo === undefined && ids === undefined
  const mustCount =
    isFiltered &&
    place.kind === 'collection' &&
    page !== undefined &&
    page.next !== null &&
    !isLoading
  const key = printJson(filter)
  const counted = useLoad(
    async (signal) =>
      mustCount ? { key, total: await countMatching(place, filter, signal) } : undefined,
    // Counts again after a change of documents, but not for each page.
    [place, key, mustCount, before === 0 ? page : undefined],
  )
  if (similarTo !== undefined) return undefined
  if (ids !== undefined) return { count: ids.length, isMore: false }
  if (!isFiltered) return all === undefined ? undefined : { count: all, isMore: false }
  if (page?.next === null && !isLoading)
    return { count: before + page.documents.length, isMore: false }
  return counted.value?.key === key ? counted.value.total : undefined
}
