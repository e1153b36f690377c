/** Performs checks on documents, one by one. */
import { isElement } from '../runs/change.ts'
import type { Documents, DocumentSet } from '../runs/document-set.ts'
import type { RunsReader } from '../runs/runs-reader.ts'
import type { Budget } from '../store/budget.ts'
import type { SearchRow, StoreConnection } from '../store/store-connection.ts'
import { vectorForm } from '../format/vector-bytes.ts'
import { isBeyond } from './bounds.ts'
import {
  listCost,
  type EntryCheck,
  type IndexCheck,
  type RangeCheck,
  type SearchField,
} from './checks.ts'

/** A document to check. */
export interface PossibleMatch {
  readonly seq: number
  /** The encoded id; looked up on demand. */
  readonly id: () => Uint8Array
}

export interface Condition {
  readonly holds: (candidate: PossibleMatch) => boolean
  /**
   * Lists a superset of the documents that satisfy the condition, if the list is worth its cost; a
   * walk then skips all other documents. Absent in tables, because walks in tables cannot skip
   * entries.
   */
  readonly among?: Listing
}

type Listing = () => Documents | undefined

const holdsAlways: Condition = { holds: () => true }

/**
 * `list` lists the documents of a range. `expected`: number of documents that will be checked, 0 if
 * unknown.
 */
export function conditionOf(
  check: IndexCheck,
  store: StoreConnection,
  list: (check: RangeCheck) => DocumentSet,
  expected = 0,
): Condition {
  const conditionsOf = (checks: readonly IndexCheck[]): Condition[] =>
    checks.map((part) => conditionOf(part, store, list, expected))
  switch (check.kind) {
    case 'always':
    case 'unknown':
      return holdsAlways
    case 'never':
      return { holds: () => false }
    case 'and': {
      // Ranges are checked last: the first check of a range lists its documents, which is
      // unnecessary if the other parts reject every candidate.
      const isRange = ({ kind }: IndexCheck): number => (kind === 'range' ? 1 : 0)
      return allOf(conditionsOf(check.of.toSorted((a, b) => isRange(a) - isRange(b))))
    }
    case 'or':
      return anyOf(conditionsOf(check.of))
    case 'not': {
      const { holds } = conditionOf(check.of, store, list, expected)
      return { holds: (candidate) => !holds(candidate) }
    }
    case 'range':
      return isListed(() => list(check), store)
    case 'entry':
      return hasEntry(check, store, expected)
    case 'ids': {
      // A hash set makes the cost independent of the number of ids.
      const ids = new Set(check.ids.map(binaryText))
      return { holds: ({ id }) => ids.has(binaryText(id())) }
    }
    case 'idRange': {
      const { low, high } = check.bounds
      return { holds: ({ id }) => isBeyond(id(), low, 1) && isBeyond(id(), high, -1) }
    }
    case 'search': {
      const has = searchFields[check.field]
      return {
        holds: ({ seq }) => {
          const row = store.storedSearch(seq)
          return row !== undefined && has(row)
        },
      }
    }
  }
}

/** The condition that a document is in a list, which is made at the first check. */
function isListed(list: () => DocumentSet, { entries }: StoreConnection): Condition {
  let listed: DocumentSet | undefined
  const documents = (): DocumentSet => (listed ??= list())
  return {
    holds: ({ seq }) => documents().has(seq),
    ...(entries.tie === 'doc' && { among: documents }),
  }
}

/** The documents that have a value in a range. */
export function listRange(
  check: RangeCheck,
  { entries }: StoreConnection,
  budget: Budget,
): DocumentSet {
  budget.spend(listCost(check))
  return entries.documentsWithin(check.range, () => budget.spend(0))
}

/** Entries of one value that can be listed in the time of one lookup. */
const valueEntriesPerLookup = 32
/**
 * Entries that a walk can visit (`walkedPerLookup`) or skip (`passedPerLookup`) in the time of one
 * lookup.
 */
const walkedPerLookup = 2
const passedPerLookup = 16
/** Number of lookups after which listing the documents of a value is considered. */
const lookupsUnlisted = 16

/**
 * The condition that a document has an entry with the value. For many checks, the documents of the
 * value are listed: at once when many checks are expected, otherwise when the lookups so far have
 * cost as much as the list.
 */
export function hasEntry(
  { path, value, isValueOnly }: Pick<EntryCheck, 'path' | 'value' | 'isValueOnly'>,
  store: StoreConnection,
  expected: number,
): Condition {
  const { tie } = store.entries
  let asked = 0
  // With many expected checks, a list is considered at the first check.
  let listAt = expected > lookupsUnlisted ? 0 : lookupsUnlisted
  let count: number | undefined
  let listed: DocumentSet | undefined
  let probe: ReturnType<RunsReader['probe']> | undefined
  const list = (): DocumentSet | undefined => {
    const { entries } = store
    count ??= entries.countValue(path, value)
    listAt = count / valueEntriesPerLookup
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
  return { holds, ...(tie === 'doc' && { among }) }
}

/** Cost, in lookups, of skipping entries of documents that `among` did not list. */
export function skipCost(entries: number): number {
  return entries / passedPerLookup
}

/**
 * Cost, in lookups, of walking entries and checking a condition. `holding`: number of documents
 * that satisfy the condition.
 */
export function walkCost(
  entries: number,
  holding: number,
  { lookups }: IndexCheck,
  { among }: Condition,
): number {
  if (lookups > 1) return entries * lookups
  const walking = among === undefined ? entries / walkedPerLookup : skipCost(entries)
  return walking + holding / valueEntriesPerLookup
}

const noId = new Uint8Array()

function binaryText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

/** Whether a document has a text to search by terms: not null and not empty. An SQL expression. */
export const hasText = "lexical IS NOT NULL AND lexical NOT IN ('null', '\"\"')"

/** Conditions on the search fields of a document; 'text' is `hasText` for a row that was read. */
const searchFields: Readonly<Record<SearchField, (row: SearchRow) => boolean>> = {
  $vector: ({ form }) => form !== vectorForm.absent,
  $vectorize: ({ vectorize }) => vectorize !== null,
  $lexical: ({ lexical }) => lexical !== null,
  text: ({ lexical }) => lexical !== null && lexical !== 'null' && lexical !== '""',
}

function allOf(parts: readonly Condition[]): Condition {
  const lists = parts.flatMap(({ among }) => among ?? [])
  return {
    holds: (candidate) => parts.every(({ holds }) => holds(candidate)),
    ...(lists.length > 0 && { among: () => firstOf(lists) }),
  }
}

function anyOf(parts: readonly Condition[]): Condition {
  const lists = parts.flatMap(({ among }) => among ?? [])
  return {
    holds: (candidate) => parts.some(({ holds }) => holds(candidate)),
    ...(lists.length === parts.length && { among: () => unionOf(lists) }),
  }
}

/** The first list that is available. */
function firstOf(lists: readonly Listing[]): Documents | undefined {
  for (const list of lists) {
    const documents = list()
    if (documents !== undefined) return documents
  }
  return undefined
}

/** The union of all lists; undefined if one of them is not available. */
function unionOf(lists: readonly Listing[]): Documents | undefined {
  const all: Documents[] = []
  for (const list of lists) {
    const documents = list()
    if (documents === undefined) return undefined
    all.push(documents)
  }
  return { has: (seq) => all.some((documents) => documents.has(seq)) }
}
