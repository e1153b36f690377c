/**
 * Filters as conditions that the index can check for one document.
 *
 * A condition is necessary: every matching document satisfies it. An exact condition is also
 * sufficient; otherwise `matches` checks the documents that satisfy it. Operators that would need a
 * range of the index (gt, size, exists) give no condition here: they can lead a query
 * (access-paths.ts) or are left to `matches`.
 */
import type { Value } from '../../../json/value.ts'
import type { Comparison, Filter } from '../../../language/filters/filter.ts'
import { arrayPosition, escapeSegment, type Path } from '../../../language/values/path.ts'
import { documentCost } from '../store/budget.ts'
import { arrayStep } from '../format/entries.ts'
import { afterPrefix, isScalar, keyOf } from '../../../language/values/key.ts'
import { isElement } from '../runs/change.ts'
import type { Tie } from '../format/entry-key.ts'
import type { Documents, DocumentSet } from '../runs/document-set.ts'
import type { Bound, RunsReader } from '../runs/runs-reader.ts'
import type { SearchRow, StoreConnection } from '../store/store-connection.ts'
import { vectorForm } from '../format/vector-bytes.ts'

/** A document to check. */
export interface PossibleMatch {
  readonly seq: number
  /** The encoded id; looked up on demand. */
  readonly id: () => Uint8Array
}

export interface Condition {
  readonly holds: (candidate: PossibleMatch) => boolean
  readonly exact: boolean
  /** Maximum number of index lookups per document. */
  readonly lookups: number
  /**
   * Lists a superset of the documents that satisfy it, if that is worthwhile; a walk then skips the
   * others. Absent for rows, whose walks cannot skip entries.
   */
  readonly among?: Listing
}

/** Cost of checking a condition on one document, in index lookups. */
export function costOf({ exact, lookups }: Condition): number {
  return exact ? Math.max(1, lookups) : documentCost + lookups
}

/** The parts of an index that conditions use. */
export interface Index {
  /** Number of a path. 'absent': no document has it. 'unindexed': the index does not cover it. */
  pathId(path: string): number | 'absent' | 'unindexed'
  /** Order of the entries of one value: by document number or by id. */
  readonly tie: Tie
  readonly store: StoreConnection
}

/** Every document satisfies it; nothing is left to check. */
export const always: Condition = { holds: () => true, exact: true, lookups: 0 }
const never: Condition = { holds: () => false, exact: true, lookups: 0 }
/** The index cannot decide it. */
export const unknown: Condition = { holds: () => true, exact: false, lookups: 0 }

/** With more lookups, parsing the document is cheaper. */
const lookupsMax = 16

/** `expected`: number of documents that will be checked, 0 if unknown. */
export function conditionOf(filter: Filter, index: Index, expected = 0): Condition {
  switch (filter.kind) {
    case 'and':
      return allOf(filter.of.map((part) => conditionOf(part, index, expected)))
    case 'or':
      return anyOf(filter.of.map((part) => conditionOf(part, index, expected)))
    default:
      break
  }
  if (filter.path.text.startsWith('$')) return searchCondition(filter, index)
  if (filter.path.text === '_id') return idCondition(filter)
  const { path } = filter
  const hasAny = (values: readonly Value[], valuesOnly = false) =>
    hasAnyAt(path, values, { index, expected, valuesOnly })
  // A null inside an array does not equal the array.
  const equals = (value: Value) => hasAny([value], value === null)
  switch (filter.kind) {
    case 'eq':
      return equals(filter.value)
    case 'ne':
      return not(equals(filter.value))
    case 'in':
      return hasAny(filter.values)
    case 'nin':
      return not(hasAny(filter.values))
    case 'all':
    case 'notAll': {
      // Checked first, so that no conditions are built in vain.
      if (filter.values.length > lookupsMax) return unknown
      const each = filter.values.map((value) => hasAny([value]))
      return filter.kind === 'all' ? allOf(each) : anyOf(each.map(not))
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
    case 'exists':
    case 'size':
    case 'notSize':
    case 'match':
      return unknown
  }
}

/**
 * The indexed paths at which a filter's path may be found. A numeric segment can be an array
 * position or a field name, so there may be several. `loose`: a hit must be confirmed in the
 * document.
 */
export function indexedPaths(path: Path): {
  readonly paths: readonly string[]
  readonly loose: boolean
} {
  const positions = path.segments.filter(
    (segment, i) => i > 0 && arrayPosition(segment) >= 0,
  ).length
  if (positions === 0) return { paths: [path.text], loose: false }
  // With more, the lookups would cost more than they save.
  if (positions > 4) return { paths: [], loose: true }
  let paths = ['']
  path.segments.forEach((segment, i) => {
    const last = i === path.segments.length - 1
    const named = i === 0 ? escapeSegment(segment) : `.${escapeSegment(segment)}`
    const next = paths.map((start) => start + named)
    if (i > 0 && arrayPosition(segment) >= 0) {
      next.push(...paths.map((start) => `${start}.${arrayStep}`))
      // Elements of an array are indexed at its own path, those of an array in it one step below.
      if (last) next.push(...paths)
    }
    paths = next
  })
  return { paths, loose: true }
}

/** The path has one of the values, or an array there contains one, unless `valuesOnly`. */
function hasAnyAt(
  path: Path,
  values: readonly Value[],
  { index, expected, valuesOnly }: Asked & { readonly valuesOnly: boolean },
): Condition {
  const { paths, loose } = indexedPaths(path)
  if (paths.length === 0) return unknown
  const ids = paths.map((text) => index.pathId(text))
  if (ids.includes('unindexed') || ids.length * values.length > lookupsMax) return unknown
  const exact = !loose && values.every(isScalar)
  const isValueOnly = valuesOnly && !loose
  return anyOf(
    ids
      .filter((id) => typeof id === 'number')
      .flatMap((id) =>
        values.map((value) => ({
          ...hasEntry(id, keyOf(value), { index, expected, isValueOnly }),
          exact,
        })),
      ),
  )
}

/** The index, and the number of documents that will be checked, 0 if unknown. */
interface Asked {
  readonly index: Index
  readonly expected: number
}

/** Entries that can be listed in the time of one lookup. */
const listedPerLookup = 32
/** Entries that a walk can visit, and skip, in the time of one lookup. */
const walkedPerLookup = 2
const passedPerLookup = 16
/** Lookups after which listing is considered. */
const lookupsUnlisted = 16

/**
 * The document has an entry with this value. For many checks, the documents of the value are
 * listed: at once when many checks are expected, otherwise when the lookups so far have cost as
 * much as the list.
 */
export function hasEntry(
  path: number,
  value: Uint8Array,
  { index, expected, isValueOnly }: Asked & { readonly isValueOnly: boolean },
): Condition {
  const { store, tie } = index
  let asked = 0
  // With many expected checks, listing is considered at the first one.
  let listAt = expected > lookupsUnlisted ? 0 : lookupsUnlisted
  let count: number | undefined
  let listed: DocumentSet | undefined
  let probe: ReturnType<RunsReader['probe']> | undefined
  const list = (): DocumentSet | undefined => {
    const { entries } = store
    count ??= entries.countValue(path, value)
    listAt = count / listedPerLookup
    if (Math.max(asked, expected) > listAt)
      listed = entries.documentsWith(path, value, !isValueOnly)
    return listed
  }
  const holds = ({ seq, id }: PossibleMatch): boolean => {
    if (listed === undefined && ++asked > listAt) list()
    if (listed !== undefined) return listed.has(seq)
    probe ??= store.entries.probe(path, value)
    const found = probe({ seq, id: tie === 'id' ? id() : noId })
    return found !== undefined && !(isValueOnly && isElement(found.state))
  }
  const among = () => listed ?? (expected > lookupsUnlisted ? list() : undefined)
  return { holds, exact: true, lookups: 1, ...(tie === 'doc' && { among }) }
}

/** Cost of skipping entries of unlisted documents, in lookups. */
export function skipCost(entries: number): number {
  return entries / passedPerLookup
}

/** Cost of walking entries and checking a condition that `holding` of them satisfy, in lookups. */
export function walkCost(
  entries: number,
  holding: number,
  { lookups, among }: Condition,
): number {
  if (lookups > 1) return entries * lookups
  const walking = among === undefined ? entries / walkedPerLookup : skipCost(entries)
  return walking + holding / listedPerLookup
}

const noId = new Uint8Array()

function idCondition(filter: Comparison): Condition {
  switch (filter.kind) {
    case 'eq':
      return anyId([filter.value])
    case 'ne':
      return not(anyId([filter.value]))
    case 'in':
      return anyId(filter.values)
    case 'nin':
      return not(anyId(filter.values))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const [low, high] = rangeOf(filter)
      return ofId((id) => isBeyond(id, low, 1) && isBeyond(id, high, -1))
    }
    case 'exists':
      return filter.exists ? always : never
    default:
      return unknown
  }
}

/** The id is one of the values. A hash set makes the cost independent of their number. */
function anyId(values: readonly Value[]): Condition {
  const keys = new Set(values.map((value) => binaryText(keyOf(value))))
  return { ...ofId((id) => keys.has(binaryText(id))), exact: values.every(isScalar) }
}

function binaryText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

function isBeyond(id: Uint8Array, { key, inclusive }: Bound, direction: 1 | -1): boolean {
  const order = Buffer.compare(id, key) * direction
  return inclusive ? order >= 0 : order > 0
}

/** A condition on the id, which the candidate provides without a lookup. */
function ofId(holds: (id: Uint8Array) => boolean): Condition {
  return { holds: ({ id }) => holds(id()), exact: true, lookups: 0 }
}

/** Whether a document has a text to search by terms: not null and not empty. An SQL expression. */
export const hasText = "lexical IS NOT NULL AND lexical NOT IN ('null', '\"\"')"

/** The same condition for a row that was read. */
function isSearchedText({ lexical }: SearchRow): boolean {
  return lexical !== null && lexical !== 'null' && lexical !== '""'
}

/** Conditions for the existence of each search field. */
const searchFields: Readonly<Record<string, (row: SearchRow) => boolean>> = {
  $vector: ({ form }) => form !== vectorForm.absent,
  $vectorize: ({ vectorize }) => vectorize !== null,
  $lexical: ({ lexical }) => lexical !== null,
}

function searchCondition(filter: Comparison, { store }: Index): Condition {
  const rowHas = (has: (row: SearchRow) => boolean): Condition => ({
    holds: ({ seq }) => {
      const row = store.storedSearch(seq)
      return row !== undefined && has(row)
    },
    exact: true,
    lookups: 1,
  })
  if (isText(filter)) return rowHas(isSearchedText)
  const has = searchFields[filter.path.text]
  if (filter.kind !== 'exists' || has === undefined) return unknown
  return filter.exists ? rowHas(has) : not(rowHas(has))
}

/** Whether a filter only requires that a text exists: it is a match without terms. */
export function isText(filter: Filter): boolean {
  return filter.kind === 'match' && filter.terms.length === 0
}

/** The key range of a comparison: the values of the same type on one side of the operand. */
export function rangeOf(comparison: {
  readonly kind: 'gt' | 'gte' | 'lt' | 'lte'
  readonly value: Value
}): [low: Bound, high: Bound] {
  const key = keyOf(comparison.value)
  const type = key.subarray(0, 1)
  const first: Bound = { key: type, inclusive: true }
  const last: Bound = { key: afterPrefix(type), inclusive: false }
  switch (comparison.kind) {
    case 'gt':
      return [{ key, inclusive: false }, last]
    case 'gte':
      return [{ key, inclusive: true }, last]
    case 'lt':
      return [first, { key, inclusive: false }]
    case 'lte':
      return [first, { key, inclusive: true }]
  }
}

function not({ holds, exact, lookups }: Condition): Condition {
  // The negation of a condition that is only necessary implies nothing.
  if (!exact) return unknown
  return { holds: (candidate) => !holds(candidate), exact, lookups }
}

function allOf(parts: readonly Condition[]): Condition {
  return join(always, parts, (sayings) => {
    const lists = sayings.flatMap(({ among }) => among ?? [])
    return {
      holds: (candidate) => sayings.every(({ holds }) => holds(candidate)),
      ...(lists.length > 0 && { among: () => firstOf(lists) }),
    }
  })
}

function anyOf(parts: readonly Condition[]): Condition {
  if (parts.includes(unknown)) return unknown
  return join(never, parts, (sayings) => {
    const lists = sayings.flatMap(({ among }) => among ?? [])
    return {
      holds: (candidate) => sayings.some(({ holds }) => holds(candidate)),
      ...(lists.length === sayings.length && { among: () => unionOf(lists) }),
    }
  })
}

type Listing = () => Documents | undefined

/** The first list that is available. */
function firstOf(lists: readonly Listing[]): Documents | undefined {
  for (const list of lists) {
    const documents = list()
    if (documents !== undefined) return documents
  }
  return undefined
}

/** The union of all lists, if each is available. */
function unionOf(lists: readonly Listing[]): Documents | undefined {
  const all: Documents[] = []
  for (const list of lists) {
    const documents = list()
    if (documents === undefined) return undefined
    all.push(documents)
  }
  return { has: (seq) => all.some((documents) => documents.has(seq)) }
}

/** `none` is the neutral element: the result for no parts. */
function join(
  none: Condition,
  parts: readonly Condition[],
  together: (sayings: readonly Condition[]) => Pick<Condition, 'holds' | 'among'>,
): Condition {
  const said = parts.filter((part) => part !== none)
  const exact = said.every((part) => part.exact)
  const sayings = said.filter((part) => part !== unknown)
  if (sayings.length === 0) return exact ? none : unknown
  const lookups = sayings.reduce((sum, part) => sum + part.lookups, 0)
  if (lookups > lookupsMax) return unknown
  const [first] = sayings
  return { ...(sayings.length === 1 ? first! : together(sayings)), exact, lookups }
}
