/**
 * The minimal engine: records in a Map, returned page by page in an arbitrary order. It serves no
 * filter, sort or count, so results are right only if the layer that calls it computes them.
 */
import assert from 'node:assert/strict'
import type {
  Engine,
  Outcome,
  Page,
  Query,
  StoredRecord,
  Target,
  Write,
} from '../../src/engine/contract.ts'
import type { Collection, CollectionOptions } from '../../src/engine/schema.ts'
import { idKey } from '../../src/language/values/record-id.ts'

export class PlainEngine implements Engine {
  readonly #records = new Map<string, StoredRecord>()
  #version = 0
  /** Maximum number of records per page, whatever the query requests. */
  pageMax = 3
  reads = 0
  /** The number of records in each requested write. */
  readonly writes: number[] = []
  /** Runs before each write, to simulate changes by other servers. */
  meanwhile: () => void = () => undefined

  /** Changes the version of every record, as a concurrent write would. */
  touch(): void {
    for (const [key, record] of this.#records)
      this.#records.set(key, { ...record, version: ++this.#version })
  }

  remove(key: string): void {
    this.#records.delete(key)
  }

  async read(_target: Target, query: Query): Promise<Page> {
    this.reads++
    await Promise.resolve()
    const all = [...this.#records].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const rest = all.filter(([key]) => query.after === undefined || key > query.after)
    const page = rest.slice(0, Math.min(query.limit, this.pageMax))
    return {
      records: page.map(([, record]) => {
        const { search, ...bare } = record
        return query.withSearchFields ? { ...bare, search: search! } : bare
      }),
      served: { filter: false, sort: false },
      next: rest.length > page.length ? page.at(-1)![0] : undefined,
      positionAfter: (record) => idKey(record.id),
    }
  }

  count(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  search(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  estimateCount(): Promise<number> {
    return Promise.resolve(this.#records.size)
  }

  async write(
    _target: Target,
    writes: readonly Write[],
    options?: { readonly ordered?: boolean },
  ): Promise<readonly Outcome[]> {
    await Promise.resolve()
    this.meanwhile()
    this.writes.push(writes.length)
    let stopped = false
    return writes.map((write) => {
      if (stopped) return 'skipped'
      const outcome = this.#write(write)
      stopped = options?.ordered === true && outcome !== 'done'
      return outcome
    })
  }

  #write(write: Write): Outcome {
    const record = write.kind === 'insert' ? write.record : write.before
    const key = idKey(record.id)
    const stored = this.#records.get(key)
    if (write.kind === 'insert') {
      if (stored !== undefined) return 'exists'
    } else if (stored?.version !== write.before.version) return 'conflict'
    if (write.kind === 'delete') this.#records.delete(key)
    else {
      const { id, text, search } = write.kind === 'insert' ? write.record : write.after
      this.#records.set(key, { id, text, search, version: ++this.#version })
    }
    return 'done'
  }

  truncate(): Promise<void> {
    this.#records.clear()
    return Promise.resolve()
  }

  listKeyspaces = notNeeded
  createKeyspace = notNeeded
  dropKeyspace = notNeeded
  listTargets = notNeeded
  as = notNeeded
  findTarget = notNeeded
  readSchema = notNeeded
  changeSchema = notNeeded
  lockSchema = notNeeded
  readRows = notNeeded
  countRows = notNeeded
  searchRows = notNeeded
  mergeRows = notNeeded
  deleteRows = notNeeded
  readSetting = notNeeded
  writeSetting = notNeeded
  watchSettings = notNeeded
  close = notNeeded
}

function notNeeded(): never {
  assert.fail('documents never ask for this')
}

export function collection(options: Partial<CollectionOptions> = {}): Collection {
  return {
    kind: 'collection',
    keyspace: 'library',
    name: 'books',
    uid: 'books-1',
    options: {
      lexical: { enabled: true, analyzer: 'standard' },
      rerank: { enabled: false },
      ...options,
    },
  }
}
