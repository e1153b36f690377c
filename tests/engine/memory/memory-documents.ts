/** The documents of a collection in memory. */
import type {
  Collection,
  NewRecord,
  Outcome,
  Page,
  Query,
  Search,
  SearchResult,
  StoredRecord,
  Write,
} from '../../../src/engine/contract.ts'
import { EngineError } from '../../../src/engine/errors.ts'
import { compareValues } from '../../../src/language/values/order.ts'
import { idKey } from '../../../src/language/values/record-id.ts'
import { similarityTo } from '../../../src/search/vector/similarity.ts'
import { bestOf, isEverything, pageOf, type Paged } from './memory-page.ts'

interface Kept extends StoredRecord, Paged {
  /** Number of the document in stored order; it stays the same until the document is deleted. */
  readonly place: number
}

export class MemoryDocuments {
  /** Documents by id, in the order of their numbers. */
  readonly #kept = new Map<string, Kept>()
  readonly #nextNumber: () => number

  constructor(nextNumber: () => number) {
    this.#nextNumber = nextNumber
  }

  get size(): number {
    return this.#kept.size
  }

  clear(): void {
    this.#kept.clear()
  }

  read(query: Query): Page {
    const after = placeAt(query.after ?? 'place 0')
    const left = this.#kept.values().filter(({ place }) => place > after)
    return pageOf(left.map(showing(query)).toArray(), query)
  }

  search({ options }: Collection, search: Search): SearchResult | undefined {
    const { by, filter } = search
    if (by.kind !== 'vector' || !isEverything(filter)) return undefined
    const scoreTo = similarityTo(options.vector!.metric, by.numbers)
    const byId = [...this.#kept.values()].toSorted((a, b) => compareValues(a.id, b.id))
    const vectorOf = ({ search: fields }: Kept) => fields?.vector?.numbers
    const scoreOf = (kept: Kept) =>
      vectorOf(kept) && scoreTo(new Float32Array(vectorOf(kept)!))
    const show = showing(search)
    const hits = bestOf(byId, scoreOf, search)
    return { hits: hits.map(({ record, score }) => ({ record: show(record), score })) }
  }

  write(writes: readonly Write[], ordered = false): Outcome[] {
    let isStopped = false
    return writes.map((write) => {
      const outcome = isStopped ? 'skipped' : this.#make(write)
      isStopped ||= ordered && outcome !== 'done'
      return outcome
    })
  }

  #make(write: Write): Outcome {
    const id = idKey(write.kind === 'insert' ? write.record.id : write.before.id)
    const before = this.#kept.get(id)
    if (write.kind === 'insert') {
      if (before !== undefined) return 'exists'
      this.#put(id, write.record)
    } else {
      if (before?.version !== write.before.version) return 'conflict'
      if (write.kind === 'delete') this.#kept.delete(id)
      else this.#put(id, write.after, before.place)
    }
    return 'done'
  }

  #put(name: string, { id, text, search }: NewRecord, place = this.#nextNumber()): void {
    const record = { id, text, search, version: this.#nextNumber() }
    this.#kept.set(name, {
      ...record,
      place,
      position: `place ${place}`,
      size: text.length,
    })
  }
}

function placeAt(position: string): number {
  const [, place] = /^place (\d+)$/.exec(position) ?? []
  if (place === undefined) throw new EngineError('position', 'no such place')
  return Number(place)
}

function showing({ withSearchFields }: Pick<Query, 'withSearchFields'>) {
  return ({ search, ...kept }: Kept): Kept =>
    withSearchFields ? { ...kept, search: search! } : kept
}
