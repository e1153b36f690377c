/**
 * Wraps an engine for one request, and reports each call with its result and duration. Reports
 * counts and kinds, never stored data.
 */
import { isLogical, requirementsOf } from '../language/filters/filter-clause.ts'
import { flatten, type Filter } from '../language/filters/filter.ts'
import type { RowFilter } from '../language/columns/row-filter.ts'
import { around } from './around.ts'
import type {
  Engine,
  MergeOutcome,
  Outcome,
  Page,
  Query,
  RowQuery,
  RowSearch,
  Search,
  Target,
} from './contract.ts'

export interface Listener {
  /** Called when the command has been validated, before the first access to stored data. */
  begin(): void
  /** Reports a sentence and, for a verbose trace, details. */
  note(message: string, data?: () => object): void
}

export function traced(engine: Engine, listener: Listener): Engine {
  /** Times a call and reports its outcome. */
  const timed = async <T>(
    ask: () => T | Promise<T>,
    says: (answer: T) => string,
    data?: (answer: T) => object,
  ): Promise<T> => {
    const startedAt = performance.now()
    const ms = () => (performance.now() - startedAt).toFixed(1)
    try {
      const answer = await ask()
      listener.note(`${says(answer)} in ${ms()} ms`, data && (() => data(answer)))
      return answer
    } catch (error) {
      listener.note(`The engine failed after ${ms()} ms`)
      throw error
    }
  }

  /** `timed` for calls that access the data of a target. */
  const timedOnTarget: typeof timed = (ask, says, data) => {
    listener.begin()
    return timed(ask, says, data)
  }
  const changing = (ask: () => Promise<boolean>) =>
    timed(ask, (changed) =>
      changed ? 'Changed the schema' : 'The schema was already as requested',
    )
  const foundBy =
    (kind: string) => (found: { readonly hits: readonly unknown[] } | undefined) =>
      `Searched by ${kind} and found ${found?.hits.length ?? 'no'} ${things(found?.hits.length)}`
  const counted = (count: number | undefined) => `Counted ${count ?? 'no'} ${things(count)}`

  return around(engine, {
    as: (proceed, credentials) => traced(proceed(credentials), listener),
    createKeyspace: (proceed, ...args) => changing(() => proceed(...args)),
    dropKeyspace: (proceed, name) => changing(() => proceed(name)),
    changeSchema: (proceed, ...args) => changing(() => proceed(...args)),
    read: (proceed, collection, query, caller) =>
      timedOnTarget(
        () => proceed(collection, query, caller),
        sayRead,
        () => describeQuery(collection, query, describeFilter(query.filter)),
      ),
    readRows: (proceed, table, query, caller) =>
      timedOnTarget(
        () => proceed(table, query, caller),
        sayRead,
        () => describeQuery(table, query, describeRowFilter(query.filter)),
      ),
    count: (proceed, collection, filter, stopAt, caller) =>
      timedOnTarget(
        () => proceed(collection, filter, stopAt, caller),
        counted,
        () => ({ ...describeTarget(collection), filter: describeFilter(filter), stopAt }),
      ),
    countRows: (proceed, table, filter, stopAt, caller) =>
      timedOnTarget(
        () => proceed(table, filter, stopAt, caller),
        counted,
        () => ({ ...describeTarget(table), filter: describeRowFilter(filter), stopAt }),
      ),
    search: (proceed, collection, search, caller) =>
      timedOnTarget(
        () => proceed(collection, search, caller),
        foundBy(search.by.kind),
        () => {
          const filter = describeFilter(search.filter)
          return describeSearch(collection, search, search.by.path, filter)
        },
      ),
    searchRows: (proceed, table, search, caller) =>
      timedOnTarget(
        () => proceed(table, search, caller),
        foundBy(search.by.kind),
        () => {
          const filter = describeRowFilter(search.filter)
          return describeSearch(table, search, search.by.column.name, filter)
        },
      ),
    estimateCount: (proceed, target) =>
      timedOnTarget(
        () => proceed(target),
        (count) => `Estimated ${count} ${things(count)}`,
      ),
    write: (proceed, collection, writes, options) =>
      timedOnTarget(
        () => proceed(collection, writes, options),
        (outcomes) => sayWritten(writes, outcomes),
        (outcomes) => ({ ...describeTarget(collection), outcomes: countEach(outcomes) }),
      ),
    mergeRows: (proceed, table, merges, options) =>
      timedOnTarget(
        () => proceed(table, merges, options),
        (outcomes) => sayWritten(merges, outcomes),
        (outcomes) => ({ ...describeTarget(table), outcomes: countEach(outcomes) }),
      ),
    deleteRows: (proceed, table, conditions, caller) =>
      timedOnTarget(
        () => proceed(table, conditions, caller),
        () => 'Deleted the rows of a key or of a range of keys',
        () => ({ ...describeTarget(table), columns: [...conditions.keys()] }),
      ),
    truncate: (proceed, target, caller) =>
      timedOnTarget(
        () => proceed(target, caller),
        () => 'Deleted all records',
        () => describeTarget(target),
      ),
  })
}

function sayRead({ records, joined }: Page<unknown>): string {
  const count = joined?.count ?? records.length
  return `Read ${count} ${things(count)}`
}

function sayWritten(
  writes: readonly { readonly kind: string }[],
  outcomes: readonly (Outcome | MergeOutcome)[],
): string {
  const done = outcomes.filter((outcome) => outcome === 'done').length
  const kinds = [...new Set(writes.map(({ kind }) => kind))].join(', ')
  const all = done === writes.length ? '' : ` of ${writes.length}`
  return `Wrote ${done}${all} ${things(writes.length)} (${kinds || 'no writes'})`
}

function describeQuery(target: Target, query: Query | RowQuery, filter: string[]): object {
  return {
    ...describeTarget(target),
    filter,
    sort: query.sort.map((key) => {
      return `${'path' in key ? key.path.text : key.column.name} ${key.direction}`
    }),
    limit: query.limit,
    skip: query.skip,
    isLaterPage: query.after !== undefined,
  }
}

function describeSearch(
  target: Target,
  { by, limit, after }: Search | RowSearch,
  path: string,
  filter: string[],
): object {
  const isLaterPage = after !== undefined
  return { ...describeTarget(target), by: by.kind, path, filter, limit, isLaterPage }
}

function describeTarget({ kind, name }: Target): object {
  return { [kind]: name }
}

/** Paths and operators of a filter, without its values. */
function describeFilter(filter: Filter): string[] {
  return flatten(filter).map((part) =>
    part.kind === 'or' ? `or of ${part.of.length}` : `${part.path.text} ${part.kind}`,
  )
}

function describeRowFilter(filter: RowFilter): string[] {
  return requirementsOf(filter).map((part) =>
    isLogical(part) ? `or of ${part.of.length}` : `${part.column.name} ${part.kind}`,
  )
}

function countEach(outcomes: readonly (Outcome | MergeOutcome)[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const word = typeof outcome === 'string' ? outcome : wordOf(outcome)
    counts[word] = (counts[word] ?? 0) + 1
  }
  return counts
}

function wordOf(outcome: Exclude<Outcome | MergeOutcome, string>): string {
  return outcome instanceof Error ? 'failed' : 'too large'
}

function things(count: number | undefined): string {
  return count === 1 ? 'record' : 'records'
}
