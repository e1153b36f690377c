/** Reads the vectors of a store, and the feed of their changes, for its vector index. */
import { vectorTable } from '../store/layout.ts'
import { StoreConnection, vectorColumns } from '../store/store-connection.ts'
import { singlesOf } from '../format/vector-bytes.ts'

export interface Changes {
  /** One entry per document; undefined when the document has lost its vector. */
  readonly vectors: ReadonlyMap<number, Float32Array | undefined>
  /** The write up to which the changes are complete. */
  readonly version: number
  readonly more: boolean
}

export class VectorFeed {
  readonly #store: StoreConnection
  readonly #suffix: string

  /** `suffix` names the column within the store. */
  constructor(file: string, suffix: string) {
    this.#store = new StoreConnection(file)
    this.#suffix = suffix
  }

  close(): void {
    this.#store.close()
  }

  /** Version of the store, and the write after which its feed starts. */
  state(): { readonly version: number; readonly feedStart: number } {
    return this.#store.reading(() => ({
      version: this.#store.meta('version'),
      feedStart: this.#store.meta(`feed${this.#suffix}`),
    }))
  }

  /** Changes after a write; undefined when the feed starts after that write. */
  changesAfter(version: number, max: number): Changes | undefined {
    return this.#store.reading(() => {
      if (this.#store.meta(`feed${this.#suffix}`) > version) return undefined
      const rows = this.#store.all(
        `SELECT version, doc FROM feed${this.#suffix} ` +
          'WHERE version > ? ORDER BY version LIMIT ?',
        [version, max],
      ) as [number, number][]
      const more = rows.length === max
      const vectors = new Map<number, Float32Array | undefined>()
      for (const [, document] of rows)
        if (!vectors.has(document))
          vectors.set(document, this.#store.vectorOf(document, this.#suffix))
      return {
        vectors,
        version: more ? rows.at(-1)![0] : this.#store.meta('version'),
        more,
      }
    })
  }

  /** Vectors of the documents whose numbers are greater than `document`, ascending. */
  vectorsAfter(
    document: number,
    max: number,
  ): readonly (readonly [number, Float32Array])[] {
    return this.#store.reading(() =>
      this.#store
        .all(
          `SELECT ${vectorColumns(this.#suffix)} FROM ${vectorTable(this.#suffix)} ` +
            'WHERE doc > ? AND vector IS NOT NULL ORDER BY doc LIMIT ?',
          [document, max],
        )
        .map((row) => {
          const { form, vector } = this.#store.storedVector(row)!
          return [row[0] as number, singlesOf(form, vector!)] as const
        }),
    )
  }

  /** At most `max` vectors, of documents spread over the store. */
  sample(max: number): Float32Array[] {
    const table = vectorTable(this.#suffix)
    return this.#store.reading(() => {
      const bounds = `SELECT min(doc), max(doc) FROM ${table} WHERE vector IS NOT NULL`
      const [first, last] = this.#store.one(bounds, []) as [number | null, number]
      if (first === null) return []
      const next =
        `SELECT ${vectorColumns(this.#suffix)} FROM ${table} ` +
        'WHERE doc >= ? AND vector IS NOT NULL ORDER BY doc LIMIT 1'
      return Array.from({ length: max }, (_, i) => {
        const from = first + Math.floor(((last - first) * i) / max)
        const { form, vector } = this.#store.storedVector(this.#store.one(next, [from]))!
        return singlesOf(form, vector!)
      })
    })
  }

  vectorCount(): number {
    const sql = `SELECT count(*) FROM ${vectorTable(this.#suffix)} WHERE vector IS NOT NULL`
    return this.#store.reading(() => Number(this.#store.one(sql, [])![0]))
  }
}
