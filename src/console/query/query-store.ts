/** Query history and saved queries of a collection or table, in local storage. */
import type { Place } from '../api/place.ts'

/** The clauses of a query as text. */
export interface QueryText {
  readonly filter: string
  readonly sort: string
  readonly projection: string
  readonly options: string
}

export interface RunQuery {
  readonly query: QueryText
  /** Milliseconds since 1970. */
  readonly ranAt: number
}

export interface NamedQuery {
  readonly name: string
  readonly query: QueryText
}

export interface SavedQueries {
  readonly history: readonly RunQuery[]
  readonly named: readonly NamedQuery[]
}

export const emptyQuery: QueryText = { filter: '', sort: '', projection: '', options: '' }

const historyMax = 50
/**
 * Maximum characters of a stored query. Longer queries usually contain vectors and would fill the
 * storage.
 */
const keptLengthMax = 20_000

/** The part of Storage that the console uses. Tests pass another implementation. */
export type QueryStorage = Pick<Storage, 'getItem' | 'setItem'>

function keyOf({ database, keyspace, name }: Place): string {
  return `stela.queries ${[database, keyspace, name].map(encodeURIComponent).join('/')}`
}

export function readQueries(storage: QueryStorage, place: Place): SavedQueries {
  try {
    const kept = JSON.parse(storage.getItem(keyOf(place)) ?? '{}') as Partial<SavedQueries>
    return { history: kept.history ?? [], named: kept.named ?? [] }
  } catch {
    return { history: [], named: [] }
  }
}

/** Adds a query to the history, newest first. A repeated query moves to the front. */
export function addToHistory(
  kept: SavedQueries,
  query: QueryText,
  now: number,
): SavedQueries {
  if (JSON.stringify(query).length > keptLengthMax) return kept
  const others = kept.history.filter((entry) => !isSame(entry.query, query))
  return { ...kept, history: [{ query, ranAt: now }, ...others].slice(0, historyMax) }
}

/** Saves a query under a name, and replaces a query of the same name. */
export function addNamed(kept: SavedQueries, name: string, query: QueryText): SavedQueries {
  const others = removeNamed(kept, name).named
  const named = [...others, { name, query }].toSorted((one, other) =>
    one.name.localeCompare(other.name),
  )
  return { ...kept, named }
}

export function removeNamed(kept: SavedQueries, name: string): SavedQueries {
  return { ...kept, named: kept.named.filter((entry) => entry.name !== name) }
}

export function writeQueries(
  storage: QueryStorage,
  place: Place,
  kept: SavedQueries,
): void {
  try {
    storage.setItem(keyOf(place), JSON.stringify(kept))
  } catch {
    // The storage is full or disabled. Queries still run.
  }
}

function isSame(one: QueryText, other: QueryText): boolean {
  return (
    one.filter === other.filter &&
    one.sort === other.sort &&
    one.projection === other.projection &&
    one.options === other.options
  )
}

/** The query on one line, for lists. */
export function describeQuery({ filter, sort, projection, options }: QueryText): string {
  const parts = [
    filter === '' ? 'all' : filter,
    sort === '' ? '' : `sort ${sort}`,
    projection === '' ? '' : `projection ${projection}`,
    options === '' ? '' : `options ${options}`,
  ]
  return parts
    .filter((part) => part !== '')
    .join(', ')
    .replace(/\s+/g, ' ')
}
