/** Loads documents with their vectors, page by page, up to a requested number. */
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { parseJson } from '../json/parse-json.ts'
import {
  Numeral,
  valueAt,
  type JsonObject,
  type Printable,
  type Value,
} from '../json/value.ts'
import { truncateVectors } from './cut-vectors.ts'

export interface MapData {
  /** Documents that have a vector, with the vector removed. */
  readonly documents: readonly JsonObject[]
  /** The vectors in the order of `documents`, in one array. */
  readonly vectors: Float32Array
  readonly dimension: number
  /** Number of documents read, with or without a vector. */
  readonly seen: number
  readonly hasMore: boolean
}

/**
 * Maximum total characters of the documents, which stay in memory so that the page can show them. A
 * map of large documents has fewer points.
 */
const charactersMax = 250_000_000

export async function loadVectors(
  place: Place,
  field: string,
  filter: Value | undefined,
  countMax: number,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<MapData> {
  const documents: JsonObject[] = []
  const vectors: Float32Array[] = []
  let [seen, characters] = [0, 0]
  let pageState: string | null = null
  do {
    const body: Record<string, Printable> = {
      ...(filter === undefined ? {} : { filter }),
      ...(place.kind === 'collection' ? { projection: { $vector: 1 } } : {}),
      options: { limit: countMax, ...(pageState === null ? {} : { pageState }) },
    }
    const { received } = await command(place, 'find', body, { signal })
    const cut = truncateVectors(received, field)
    const reply = parseJson(cut.text)
    const found = (valueAt(reply, ['data', 'documents']) ?? []) as readonly JsonObject[]
    for (const document of found) {
      const position = document.get(field)
      const vector =
        position instanceof Numeral ? cut.vectors[Number(position.text)] : undefined
      document.delete(field)
      const length = vectors[0]?.length ?? vector?.length
      if (vector === undefined || vector.length !== length) continue
      documents.push(document)
      vectors.push(vector)
    }
    seen += found.length
    characters += received.length
    const next: Value | undefined = valueAt(reply, ['data', 'nextPageState'])
    pageState = typeof next === 'string' ? next : null
    onProgress(seen)
  } while (pageState !== null && seen < countMax && characters < charactersMax)
  const dimension = vectors[0]?.length ?? 0
  const all = new Float32Array(vectors.length * dimension)
  vectors.forEach((vector, row) => all.set(vector, row * dimension))
  return { documents, vectors: all, dimension, seen, hasMore: pageState !== null }
}
