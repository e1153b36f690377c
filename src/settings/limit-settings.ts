/** Limits that operators can configure. */
import { InvalidArgumentError, Option } from 'commander'
import { checkLimits, defaultLimits, type Limits } from '../limits.ts'
import { setting } from './setting-option.ts'
import { wholeNumber } from './setting-values.ts'

/** A configurable limit, with the minimum and maximum of its value. */
interface LimitSetting {
  readonly flag: string
  readonly limit: keyof Limits
  readonly min: number
  readonly max?: number
  readonly says: string
}

const limitSettings: readonly LimitSetting[] = [
  limit('page-size', 'pageSize', 1, 'documents per page of find'),
  limit('max-body-size', 'bodySizeMax', 1, 'bytes of a request body'),
  limit('max-body-values', 'bodyValuesMax', 10_000, 'JSON values in a request body'),
  limit(
    'max-waiting-reads',
    'waitingReadsMax',
    1,
    'queued searches and long reads per token',
  ),
  limit('max-document-length', 'documentLengthMax', 1, 'characters of a document'),
  limit('max-reply-size', 'replySizeMax', 1, 'total characters of documents in a reply'),
  limit('max-collections', 'collectionsMax', 0, 'collections in all keyspaces'),
  limit('max-tables', 'tablesMax', 0, 'tables in all keyspaces'),
  limit('max-columns', 'columnsMax', 1, 'columns of a table'),
  limit('max-indexes', 'indexesPerTableMax', 0, 'indexes of a table'),
  limit('max-insert-many', 'insertManyMax', 1, 'documents per insertMany'),
  limit('max-delete-many', 'deleteManyMax', 1, 'documents deleted per deleteMany call'),
  limit('max-count', 'countMax', 1, 'highest count that countDocuments returns'),
  limit(
    'max-sorted-documents',
    'sortedDocumentsMax',
    0,
    'documents that a find with an in-memory sort may match; 0: no limit',
  ),
  limit(
    'max-sorted-rows',
    'tableSortRowsMax',
    0,
    'rows that a find with an in-memory sort may match; 0: no limit',
  ),
  // The maximum is 8 000, because a vector index collects twice as many candidates as this limit,
  // and at most 16 384.
  {
    ...limit(
      'max-vector-limit',
      'vectorLimitMax',
      1,
      'documents returned by a vector search',
    ),
    max: 8_000,
  },
  limit(
    'max-lexical-size',
    'lexicalSizeMax',
    1,
    'total bytes of the terms of a $lexical text',
  ),
  limit('max-sort-keys', 'sortKeysMax', 1, 'fields in a sort'),
  limit(
    'max-analyzer-length',
    'analyzerLengthMax',
    1_000,
    'characters in an analyzer definition',
  ),
  limit(
    'max-analyzer-entries',
    'analyzerEntriesMax',
    100,
    'total entries in the lists of an analyzer',
  ),
  limit(
    'max-analyzer-memory',
    'analyzerMemoryMax',
    1_000_000,
    'bytes of compiled analyzers in memory',
  ),
  limit('max-filter-comparisons', 'filterComparisonsMax', 1, 'comparisons in a filter'),
  limit('max-in-values', 'inValuesMax', 1, 'values in an $in or $nin'),
]

function limit(flag: string, name: keyof Limits, min: number, says: string): LimitSetting {
  return { flag, limit: name, min, says }
}

export function limitOptions(): Option[] {
  return limitSettings.map(({ flag, limit, min, max, says }) =>
    setting(flag, '<number>', says)
      .argParser(wholeNumber(min, max ?? Number.MAX_SAFE_INTEGER))
      .default(defaultLimits[limit])
      .helpGroup('Limits:'),
  )
}

export function readLimits(values: Readonly<Record<string, unknown>>): Limits {
  const limits: Record<keyof Limits, number> = { ...defaultLimits }
  for (const { flag, limit } of limitSettings)
    limits[limit] = values[new Option(`--${flag}`).attributeName()] as number
  if (limits.bodySizeMax < limits.documentLengthMax)
    throw new InvalidArgumentError(
      `--max-body-size ${limits.bodySizeMax} is too small for a document of ` +
        `--max-document-length ${limits.documentLengthMax}. Raise the first or lower ` +
        'the second.',
    )
  if (limits.replySizeMax < limits.documentLengthMax)
    throw new InvalidArgumentError(
      `--max-reply-size ${limits.replySizeMax} is too small for a document of ` +
        `--max-document-length ${limits.documentLengthMax}. Raise the first or lower ` +
        'the second.',
    )
  checkLimits(limits)
  return limits
}
