/** Writes on their way to the thread that makes them. */
import type { Filter } from '../../../language/filters/filter.ts'
import type { MergeOutcome, Outcome } from '../../contract.ts'
import type { TermCounts } from '../lexical/writer.ts'
import type { StoredMerge } from '../format/merge-row.ts'

/**
 * The writes of one request. What crosses between threads is copied object by object, with the
 * names of their fields: so it is made of few arrays.
 */
export interface WriteBatch extends PackedOperations {
  readonly ordered: boolean
  /** The paths that the entries name by position. */
  readonly paths: readonly string[]
  readonly keys: Uint8Array
  /** Four numbers an entry: path, start and end of its key, whether it is an element. */
  readonly entries: Uint32Array
  /** The terms that texts name by position. */
  readonly terms: readonly string[]
  /** Two numbers for each term of a text: which it is, and how often the text has it. */
  readonly termCounts: Uint32Array
  /** Present where all operations are merges of rows: what they are, one for each. */
  readonly merges?: { readonly each: readonly StoredMerge[]; readonly sizeMax: number }
}

export type WriteOutcome = Outcome | MergeOutcome

/** What has become of a message to the thread. */
export interface Written {
  readonly outcomes: readonly WriteOutcome[]
  /** The number of the latest write to the store. */
  readonly version: number
  /** The same before these: the first of them that is done has the next. */
  readonly before: number
  /** Where the next part of a change of indexes starts. */
  readonly next?: number | undefined
  /** Ranges of rows that are yet to be deleted. */
  readonly left?: readonly IdRange[] | undefined
}

/** From the first id, and up to but without the second. */
export interface IdRange {
  readonly from: Uint8Array
  readonly to: Uint8Array
}

/** Rows to delete: those in the ranges for which a filter holds. */
export interface Deletion {
  readonly ranges: readonly IdRange[]
  readonly filter: Filter
}

export interface Operation {
  /** Of a merge, what follows is the row that it makes where there is none. */
  readonly kind: 'insert' | 'replace' | 'delete' | 'merge'
  /** Where the key of the _id starts and ends among the keys. */
  readonly idStart: number
  readonly idEnd: number
  /** The version that a replace or delete expects, and of which row; 0: the one of the _id. */
  readonly version: number
  readonly seq: number
  /** Empty: a merge that makes no row. */
  readonly text: string
  /**
   * What stands beside the text; null: no longer anything. Undefined: as it was, which of what
   * is deleted is of no use.
   */
  readonly search: SearchColumns | null | undefined
  /** Where the terms of its text stand; null where it has none, or the text is as it was. */
  readonly textTerms: TermSpan | null
  /** Of a row: the vectors that change, and the terms of texts that change. */
  readonly vectors: readonly VectorChange[]
  readonly texts: readonly TextChange[]
  /** Entries that go, then entries that come: from, between, to. */
  readonly from: number
  readonly middle: number
  readonly to: number
}

/** Operations as they cross between threads. */
export interface PackedOperations {
  /** Of each: the position of its kind among `kinds`, then its five places among keys and entries. */
  readonly places: Uint32Array
  /** Of each: the version that it expects, and the number of the row. */
  readonly versions: Float64Array
  readonly recordTexts: readonly string[]
  /** What else they bring, by the position of the operation: most bring nothing. */
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
  /** Null: there is none any more. */
  readonly bytes: Uint8Array | null
}

export interface TextChange {
  readonly suffix: string
  /** Null: there is no text any more. */
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

/** The terms of a text. */
export function termsIn(batch: WriteBatch, { from, to }: TermSpan): TermCounts {
  return { terms: batch.terms, termCounts: batch.termCounts, from, to }
}
