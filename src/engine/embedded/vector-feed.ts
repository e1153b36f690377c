/** Reads from a store what its vector index is made of. */
import { EngineError } from '../engine.ts'
import { StoreConnection } from './store-connection.ts'
import { decodeVector } from './vector-bytes.ts'

export interface Changes {
  /** Each document once. Those that have no vector any more come without. */
  readonly vectors: ReadonlyMap<number, Float32Array | undefined>
  /** The write up to which these are all. */
  readonly version: number
  readonly more: boolean
}

export class VectorFeed {
  readonly #store: StoreConnection

  constructor(file: string) {
    this.#store = new StoreConnection(file)
  }

  close(): void {
    this.#store.close()
  }

  /** What the store says of its versions. */
  state(): { readonly version: number; readonly feedStart: number } {
    return this.#reading(() => ({
      version: this.#meta('version'),
      feedStart: this.#meta('feed'),
    }))
  }

  /** What changed after a write; undefined when the feed no longer goes back so far. */
  changesAfter(version: number, max: number): Changes | undefined {
    return this.#reading(() => {
      if (this.#meta('feed') > version) return undefined
      const rows = this.#store.all(
        'SELECT version, doc FROM feed WHERE version > ? ORDER BY version LIMIT ?',
        [version, max],
      ) as [number, number][]
      const more = rows.length === max
      const vectors = new Map<number, Float32Array | undefined>()
      for (const [, document] of rows)
        if (!vectors.has(document)) vectors.set(document, this.#vectorOf(document))
      return { vectors, version: more ? rows.at(-1)![0] : this.#meta('version'), more }
    })
  }

  /** Vectors of the documents that follow another, in the order of their numbers. */
  vectorsAfter(
    document: number,
    max: number,
  ): readonly (readonly [number, Float32Array])[] {
    return this.#reading(() =>
      this.#store
        .all(
          'SELECT doc, vector_form, vector FROM search ' +
            'WHERE doc > ? AND vector IS NOT NULL ORDER BY doc LIMIT ?',
          [document, max],
        )
        .map((row) => {
          const [found, form, bytes] = row as [number, number, Uint8Array]
          return [found, singlesOf(form, bytes)] as const
        }),
    )
  }

  vectorCount(): number {
    const sql = 'SELECT count(*) FROM search WHERE vector IS NOT NULL'
    return this.#reading(() => Number(this.#store.one(sql, [])![0]))
  }

  #vectorOf(document: number): Float32Array | undefined {
    const found = this.#store.one('SELECT vector_form, vector FROM search WHERE doc = ?', [
      document,
    ]) as [number, Uint8Array | null] | undefined
    return found?.[1] ? singlesOf(found[0], found[1]) : undefined
  }

  #meta(name: string): number {
    const found = this.#store.one('SELECT value FROM meta WHERE name = ?', [name])
    if (found === undefined) throw new EngineError('damaged', `meta has no ${name}`)
    return Number(found[0])
  }

  #reading<T>(read: () => T): T {
    this.#store.beginRead()
    try {
      return read()
    } finally {
      this.#store.endRead()
    }
  }
}

/** Search works in single precision, whatever was stored. */
export function singlesOf(form: number, bytes: Uint8Array): Float32Array {
  const { numbers } = decodeVector({ form, bytes })!
  return numbers instanceof Float32Array ? numbers : Float32Array.from(numbers)
}
