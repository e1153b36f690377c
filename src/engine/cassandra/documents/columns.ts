/** Binds documents and filter terms to the columns of a collection's table. */
import { types } from 'cassandra-driver'
import type { NewRecord } from '../../contract.ts'
import type { Numeric } from '../../../json/value.ts'
import type { IndexingRule } from '../../../language/filters/indexing.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { CollectionOptions } from '../../schema.ts'
import { lexicalColumn } from '../catalog/collection-table.ts'
import type { Statement } from '../cluster/statement.ts'
import { checkComparable } from '../cql/zero-vector.ts'
import type { DocumentKey } from './document-key.ts'
import type { Branch, PresenceTerm, DocumentTerm } from './filter-plan.ts'
import { scaledNumber } from '../cql/numerals.ts'
import { shredInSteps, termSizeMax, type Shredded } from './shred.ts'
import { bytesOfCollection } from '../cql/cql-collections.ts'
import { bytesOfDecimal, bytesOfLong } from '../cql/cql-primitives.ts'
import { bytesOfVector } from '../cql/cql-values.ts'
import { joinText } from './stored-text.ts'

const { BigDecimal, Integer, Tuple } = types

/** Bytes between a path and its value in an index term. */
const termOverhead = 6

export function boundKey({ type, text }: DocumentKey): types.Tuple {
  return new Tuple(type, text)
}

/** Columns of a document besides its key, with the values to bind. */
export function* boundColumns(
  record: NewRecord,
  transaction: types.TimeUuid,
  options: CollectionOptions,
  indexing: IndexingRule,
): Steps<readonly (readonly [column: string, value: unknown])[]> {
  const { text, document, search } = record
  const pruned = yield* prunedFor(document, options, indexing)
  const shredded = yield* shredInSteps(pruned, search)
  const vector = search.vector?.numbers
  if (vector !== undefined && options.vector !== undefined)
    checkComparable(vector, options.vector.metric, '$vector')
  return [
    ['tx_id', transaction],
    ['doc_json', joinText(text, search)],
    ...(yield* boundIndexes(shredded)),
    ...(options.vector === undefined
      ? []
      : ([['query_vector_value', vector ? bytesOfVector(vector) : null]] as const)),
    ...(options.lexical.enabled
      ? ([['query_lexical_value', search.lexical ?? null]] as const)
      : []),
  ]
}

/**
 * The indexed part of a document. It includes the _id unless the allow or deny list of the
 * collection excludes it.
 */
function* prunedFor(
  document: NewRecord['document'],
  { indexing: lists }: CollectionOptions,
  indexing: IndexingRule,
): Steps<NewRecord['document']> {
  const pruned = yield* indexing.pruneInSteps(document)
  if (lists === undefined) return pruned
  const isIndexed =
    'allow' in lists
      ? lists.allow.includes('_id') || lists.allow.includes('*') || lists.allow.length === 0
      : !lists.deny.includes('_id') && !lists.deny.includes('*')
  if (isIndexed) return pruned
  const rest = new Map(pruned)
  rest.delete('_id')
  return rest
}

type BoundIndexes = readonly (readonly [column: string, bytes: Buffer])[]

/** Encodes the index columns in steps; the driver would encode all values without a pause. */
function* boundIndexes(shredded: Shredded): Steps<BoundIndexes> {
  const { exists, sizes, contains, booleans, numbers, texts, nulls, dates } = shredded
  return [
    ['exist_keys', yield* bytesOfCollection(exists, elementOf)],
    ['array_size', yield* bytesOfCollection(sizes, entryOf(bytesOfInt))],
    ['array_contains', yield* bytesOfCollection(contains, elementOf)],
    ['query_bool_values', yield* bytesOfCollection(booleans, entryOf(bytesOfFlag))],
    ['query_dbl_values', yield* bytesOfCollection(numbers, entryOf(bytesOfDecimal))],
    ['query_text_values', yield* bytesOfCollection(texts, textEntryOf)],
    ['query_null_values', yield* bytesOfCollection(nulls, elementOf)],
    ['query_timestamp_values', yield* bytesOfCollection(dates, entryOf(bytesOfMs))],
  ]
}

type Entry<T> = readonly [path: string, value: T]

function elementOf(text: string): readonly Buffer[] {
  return [Buffer.from(text)]
}

function entryOf<T>(bytesOf: (value: T) => Buffer) {
  return ([path, value]: Entry<T>) => [Buffer.from(path), bytesOf(value)]
}

/**
 * The path and text of an entry; empty if the text is too long for the index. No condition looks up
 * strings in this column: equality uses `array_contains`, and ranges are checked on the document.
 */
function textEntryOf([path, text]: Entry<string>): readonly Buffer[] {
  const parts = [Buffer.from(path), Buffer.from(text)] as const
  return parts[0].length + parts[1].length + termOverhead <= termSizeMax ? parts : []
}

function bytesOfFlag(value: boolean): Buffer {
  return Buffer.of(value ? 1 : 0)
}

function bytesOfInt(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function bytesOfMs(ms: number): Buffer {
  return bytesOfLong(BigInt(ms))
}

/** The conditions of a branch, joined by AND; empty for an empty branch. */
export function conditionsOf(branch: Branch): Statement {
  return joined(branch.map(conditionOf), ' AND ')
}

function joined(all: readonly Statement[], by: string): Statement {
  return {
    text: all.map(({ text }) => text).join(by),
    values: all.flatMap(({ values }) => values),
  }
}

function conditionOf(term: DocumentTerm): Statement {
  switch (term.kind) {
    case 'contains':
    case 'null':
    case 'exists':
      return presenceOf(term, 'CONTAINS')
    case 'lacks':
      return presenceOf(term.of, 'NOT CONTAINS')
    case 'text':
      return { text: 'query_text_values[?] = ?', values: [term.path, term.text] }
    case 'size':
      return { text: 'array_size[?] = ?', values: [term.path, term.size] }
    case 'otherSize':
      return { text: 'array_size[?] != ?', values: [term.path, term.size] }
    case 'range':
      return rangeOf(term)
    case 'words':
      return { text: `${lexicalColumn} : ?`, values: [term.text] }
    case 'any': {
      const { text, values } = joined(term.of.map(groupOf), ' OR ')
      return { text: `(${text})`, values }
    }
  }
}

function groupOf(branch: Branch): Statement {
  const { text, values } = conditionsOf(branch)
  return { text: branch.length === 1 ? text : `(${text})`, values }
}

function presenceOf(term: PresenceTerm, operator: 'CONTAINS' | 'NOT CONTAINS'): Statement {
  switch (term.kind) {
    case 'contains':
      return { text: `array_contains ${operator} ?`, values: [term.entry] }
    case 'null':
      return { text: `query_null_values ${operator} ?`, values: [term.path] }
    case 'exists':
      return { text: `exist_keys ${operator} ?`, values: [term.path] }
  }
}

function boundDecimal(numeric: Numeric): types.BigDecimal {
  const { unscaled, scale } = scaledNumber(numeric)
  // The driver's type is wrong: the constructor accepts any integer.
  return new BigDecimal(Integer.fromString(unscaled.toString()) as unknown as number, scale)
}

function rangeOf({
  path,
  operator,
  bound,
}: Extract<DocumentTerm, { kind: 'range' }>): Statement {
  const [column, value] =
    'ms' in bound
      ? ['query_timestamp_values', new Date(bound.ms)]
      : ['query_dbl_values', boundDecimal(bound.number)]
  return { text: `${column}[?] ${operator} ?`, values: [path, value] }
}
