/** Messages for writes to the writer thread. */
import type { Filter } from '../../../language/filters/filter.ts'
import type { MergeOutcome, Outcome } from '../../contract.ts'
import type { TermCounts } from '../lexical/writer.ts'
import type { StoredMerge } from '../format/merge-row.ts'

/**
 * The writes of one request. Structured cloning copies every object with its field names, so the
 * batch consists of a few arrays.
 */
export interface WriteBatch extends PackedOperations {
  readonly ordered: boolean
  /** Paths, which entries refer to by position. */
  readonly paths: readonly string[]
  readonly keys: Uint8Array
  /** Four numbers per entry: path, start and end of its key, and 1 for an array element. */
  readonly entries: Uint32Array
  /** Terms, which `termCounts` refers to by position. */
  readonly terms: readonly string[]
  /** Two numbers for each distinct term of a text: its position in `terms`, and its frequency. */
  readonly termCounts: Uint32Array
  /** Present when all operations are merges of rows: one merge per operation. */
  readonly merges?: { readonly each: readonly StoredMerge[]; readonly sizeMax: number }
}

export type WriteOutcome = Outcome | MergeOutcome

/** Result of a message to the writer thread. */
export interface Written {
  readonly outcomes: readonly WriteOutcome[]
  /** Version of the store after the commit of these writes. */
  readonly version: number
  /**
   * Version of the store before these writes; the first write that is done gets the next
   * number.
   */
  readonly before: number
  /** Start of the next part of an index step. */
  readonly next?: number | undefined
  /** Ranges with rows that are still to be deleted. */
  readonly left?: readonly IdRange[] | undefined
}

/** Ids from `from` up to, but excluding, `to`. */
export interface IdRange {
  readonly from: Uint8Array
  readonly to: Uint8Array
}

/** Deletes the rows in the ranges that match the filter. */
export interface Deletion {
  readonly ranges: readonly IdRange[]
  readonly filter: Filter
}

export interface Operation {
  /** For a merge, the fields below describe the row that it creates if the key is new. */
  readonly kind: 'insert' | 'replace' | 'delete' | 'merge'
  /** Span of the encoded _id in `keys`. */
  readonly idStart: number
  readonly idEnd: number
  /** Expected version and row number of a replace or delete; `seq` 0: find the row by its _id. */
  readonly version: number
  readonly seq: number
  /** Text of the record; empty for a merge that does not create a row. */
  readonly text: string
  /**
   * New search fields; null removes them. Undefined keeps them, and is ignored for a delete, which
   * always removes them.
   */
  readonly search: SearchColumns | null | undefined
  /** Span of the terms of the text. Null when the record has no text, or the text is unchanged. */
  readonly textTerms: TermSpan | null
  /** Changed vectors of a row, and the terms of its changed texts. */
  readonly vectors: readonly VectorChange[]
  readonly texts: readonly TextChange[]
  /** Entries to remove are in [from, middle), entries to add in [middle, to). */
  readonly from: number
  readonly middle: number
  readonly to: number
}

/** Operations in a form that is cheap to send to another thread. */
export interface PackedOperations {
  /** Six numbers per operation: index of its kind in `kinds`, its id span, and its entry spans. */
  readonly places: Uint32Array
  /** Two numbers per operation: expected version and row number. */
  readonly versions: Float64Array
  readonly recordTexts: readonly string[]
  /** Fields that most operations do not have, by position of the operation. */
  readonly besides: ReadonlyMap<number, Beside>
}

type Beside = Pick<Operation, 'search' | 'textTerms' | 'vectors' | 'texts'>

const kinds = ['insert', 'replace', 'delete', 'merge'] as const
const placesSize = 6

export function packOperations(operations: readonly Operation[]): PackedOperations {
  const places = new Uint32Array(operations.length * placesSize)
  const versions = new Float64Array(operations.length * 2)
  const recordTexts: string[] = []
  const besides = new Map<number, Beside>()
  let at = 0
  for (const [position, operation] of operations.entries()) {
    const { search, textTerms, vectors, texts } = operation
    places[at++] = kinds.indexOf(operation.kind)
    places[at++] = operation.idStart
    places[at++] = operation.idEnd
    places[at++] = operation.from
    places[at++] = operation.middle
    places[at++] = operation.to
    versions[2 * position] = operation.version
    versions[2 * position + 1] = operation.seq
    recordTexts.push(operation.text)
    if (search !== undefined || vectors.length > 0 || texts.length > 0)
      besides.set(position, { search, textTerms, vectors, texts })
  }
  return { places, versions, recordTexts, besides }
}

export function operationsIn(packed: PackedOperations): Operation[] {
  const { places, versions, recordTexts, besides } = packed
  return recordTexts.map((text, position) => {
    const at = position * placesSize
    return {
      kind: kinds[places[at]!]!,
      text,
      version: versions[2 * position]!,
      seq: versions[2 * position + 1]!,
      idStart: places[at + 1]!,
      idEnd: places[at + 2]!,
      from: places[at + 3]!,
      middle: places[at + 4]!,
      to: places[at + 5]!,
      ...(besides.get(position) ?? nothingBeside),
    }
  })
}

const nothingBeside: Beside = {
  search: undefined,
  textTerms: null,
  vectors: [],
  texts: [],
}

export interface VectorChange {
  readonly suffix: string
  readonly isIndexed: boolean
  /** Null: the vector is removed. */
  readonly bytes: Uint8Array | null
}

export interface TextChange {
  readonly suffix: string
  /** Null: the text is removed. */
  readonly terms: TermSpan | null
}

export interface TermSpan {
  readonly from: number
  readonly to: number
}

export interface SearchColumns {
  readonly form: number
  readonly vector: Uint8Array | null
  readonly vectorize: string | null
  readonly lexical: string | null
}

/** The counted terms of a text. */
export function termsIn(batch: WriteBatch, { from, to }: TermSpan): TermCounts {
  return { terms: batch.terms, termCounts: batch.termCounts, from, to }
}
