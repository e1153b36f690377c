/**
 * The expected answers of an engine, computed from a plain Map by the functions that define the
 * semantics.
 */
import type { SearchFields } from '../../src/engine/contract.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import type { Filter } from '../../src/language/filters/filter.ts'
import type { IndexingRule } from '../../src/language/filters/indexing.ts'
import { plainMatches } from '../language/plain-matches.ts'
import { compareBy } from '../../src/language/values/order.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'
import { idKey } from '../../src/language/values/record-id.ts'

export interface Kept {
  readonly document: JsonObject
  readonly text: string
  readonly search: SearchFields
}

export class Oracle {
  readonly rule: IndexingRule
  readonly #documents = new Map<string, Kept>()

  constructor(rule: IndexingRule) {
    this.rule = rule
  }

  get size(): number {
    return this.#documents.size
  }

  get all(): readonly Kept[] {
    return [...this.#documents.values()]
  }

  has(id: Value): boolean {
    return this.#documents.has(idKey(id))
  }

  put(document: JsonObject, search: SearchFields): void {
    const text = printJson(document)
    this.#documents.set(idKey(document.get('_id')!), { document, text, search })
  }

  delete(id: Value): void {
    this.#documents.delete(idKey(id))
  }

  clear(): void {
    this.#documents.clear()
  }

  /** The matching documents. */
  found(filter: Filter): Kept[] {
    return this.all.filter((kept) => plainMatches(filter, this.#indexed(kept)))
  }

  /** Texts of the matching documents, in order if there is a sort. */
  matching(filter: Filter, sort: readonly SortKey[]): string[] {
    const found = this.found(filter)
    if (sort.length > 0) {
      const compare = compareBy(sort)
      found.sort((a, b) => compare(a.document, b.document))
    }
    return found.map(({ text }) => text)
  }

  #indexed({ document, search }: Kept): JsonObject {
    const indexed = new Map(this.rule.prune(document))
    if (search.vector !== undefined) indexed.set('$vector', null)
    if (search.vectorize !== undefined) indexed.set('$vectorize', null)
    if (search.lexical !== undefined) indexed.set('$lexical', null)
    return indexed
  }
}
