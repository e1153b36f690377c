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
import { blockSize, drawBlocks } from './sample-blocks.ts'

export interface MapData {
  /** Documents that have a vector, with the vector removed. */
  readonly documents: readonly JsonObject[]
  /** The vectors in the order of `documents`, in one array. */
  readonly vectors: Float32Array
  readonly dimension: number
  /** Number of documents read, with or without a vector. */
  readonly seen: number
  readonly hasMore: boolean
  /** Whether the documents are a random sample, instead of the first ones. */
  readonly isRandom: boolean
}

/**
 * Maximum total characters of the documents, which stay in memory so that the page can show them. A
 * map of large documents has fewer points.
 */
const charactersMax = 250_000_000

export interface VectorQuery {
  /** Field with the vectors. */
  readonly field: string
  readonly filter: Value | undefined
  readonly countMax: number
  /** Number of documents of the collection; undefined if it is unknown. */
  readonly total: number | undefined
}

/**
 * Loads up to `countMax` documents. If a collection has more and there is no filter, they are a
 * random sample; otherwise the first ones.
 */
export async function loadVectors(
  place: Place,
  { field, filter, countMax, total }: VectorQuery,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<MapData> {
  const offsets =
    place.kind === 'collection' && filter === undefined && total !== undefined
      ? drawBlocks(total, countMax)
      : undefined
  const documents: JsonObject[] = []
  const vectors: Float32Array[] = []
  let [seen, characters] = [0, 0]
  let pageState: string | null = null
  let block = 0
  do {
    const body: Record<string, Printable> = {
      ...(filter === undefined ? {} : { filter }),
      ...(place.kind === 'collection' ? { projection: { $vector: 1 } } : {}),
      ...(offsets === undefined
        ? { options: { limit: countMax, ...(pageState === null ? {} : { pageState }) } }
        : { sort: { _id: 1 }, options: { limit: blockSize, skip: offsets[block]! } }),
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
    block++
    onProgress(seen)
  } while (
    hasNext(offsets, block, pageState) &&
    seen < countMax &&
    characters < charactersMax
  )
  const hasMore = offsets !== undefined || pageState !== null
  const dimension = vectors[0]?.length ?? 0
  const all = new Float32Array(vectors.length * dimension)
  vectors.forEach((vector, row) => all.set(vector, row * dimension))
  return {
    documents,
    vectors: all,
    dimension,
    seen,
    hasMore,
    isRandom: offsets !== undefined,
  }
}

function hasNext(
  offsets: readonly number[] | undefined,
  block: number,
  pageState: string | null,
): boolean {
  return offsets === undefined ? pageState !== null : block < offsets.length
}
