/** Writes on their way to the thread that makes them. */
import type { Filter } from '../../../language/filters/filter.ts'
import type { MergeOutcome, Outcome } from '../../contract.ts'
import type { TermCounts } from '../lexical/writer.ts'
import type { StoredMerge } from '../rows/merge-row.ts'

/** The writes of one request, packed so that few objects cross between threads. */
export interface WriteBatch {
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
  readonly operations: readonly Operation[]
  /** Present where all operations are merges of rows: what they are, one for each. */
  readonly merges?: { readonly each: readonly StoredMerge[]; readonly sizeMax: number }
}

export type WriteOutcome = Outcome | MergeOutcome

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
  /** The version that a replace or delete expects. */
  readonly version: number
  /** Empty: a merge that makes no row. */
  readonly text: string
  /** Undefined for a row, which has nothing there. */
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
export function* termsIn(batch: WriteBatch, { from, to }: TermSpan): TermCounts {
  const { terms, termCounts } = batch
  for (let i = from; i < to; i++) yield [terms[termCounts[i * 2]!]!, termCounts[i * 2 + 1]!]
}
