/** The documents of a collection, for a migration. */
import { throwFailed } from '../engine/errors.ts'
import { ownCaller } from '../caller/caller.ts'
import type {
  Collection,
  Engine,
  NewRecord,
  Query,
  SearchFields,
  StoredRecord,
} from '../engine/contract.ts'
import { parseStored } from '../json/parse.ts'
import type { JsonObject } from '../json/value.ts'
import { everything, type Filter } from '../language/filters/filter.ts'
import { idKey, idPath } from '../language/values/record-id.ts'
import { analyzerFor } from '../search/lexical/analyzer.ts'
import { pageSize, pageSizeMax, type RecordSet } from './record-set.ts'

export function documentSet(
  engine: Engine,
  collection: Collection,
): RecordSet<StoredRecord> {
  const { options } = collection
  const caller = ownCaller()
  async function* read(filter: Filter): AsyncGenerator<readonly StoredRecord[]> {
    let after: string | undefined
    do {
      const query: Query = {
        ...{ filter, sort: [], skip: 0, limit: pageSize, after, sizeMax: pageSizeMax },
        ...{ stable: false, withSearchFields: true },
      }
      const page = await engine.read(collection, query, caller)
      yield page.records
      after = page.next
    } while (after !== undefined)
  }
  return {
    noun: 'documents',
    pages: () => read(everything),
    estimate: () => engine.estimateCount(collection),
    canonical: ({ text, search = {} }) => text + searchText(search),
    keyOf: ({ id }) => idKey(id),
    async find(records) {
      const filter: Filter = {
        ...{ kind: 'in', path: idPath },
        values: records.map(({ id }) => id),
      }
      const wanted = new Set(records.map(({ id }) => idKey(id)))
      const found = new Map<string, StoredRecord>()
      // An engine may return more documents than the filter matches.
      for await (const page of read(filter))
        for (const record of page)
          if (wanted.has(idKey(record.id))) found.set(idKey(record.id), record)
      return found
    },
    async insert(records) {
      const writes = records.map((record) => ({
        kind: 'insert' as const,
        record: newRecord(record, options.lexical.analyzer),
      }))
      const outcomes = await engine.write(collection, writes)
      throwFailed(outcomes)
      return outcomes.map((outcome) => (outcome === 'done' ? 'done' : 'exists'))
    },
  }
}

function newRecord({ id, text, search = {} }: StoredRecord, analyzer: unknown): NewRecord {
  const { lexical } = search
  return {
    ...{ id, text, search },
    document: parseStored(text) as JsonObject,
    ...(typeof lexical === 'string' && {
      terms: () => analyzerFor(analyzer).terms(lexical),
    }),
  }
}

/**
 * The search fields as text, to compare them. An engine may store the numbers of a vector with 32
 * or 64 bits, so the comparison uses their decimal texts.
 */
function searchText({ vector, vectorize, lexical }: SearchFields): string {
  const numbers = vector && `${vector.form} ${vector.numbers.join()}`
  const fields = { vector: numbers, vectorize, lexical }
  return JSON.stringify(fields)
}
