/**
 * Stands in front of an engine for one request, and tells what the engine was asked, what
 * came of it and how long that took. Tells of counts and kinds, never of what is stored.
 */
import { flatten, type Filter } from '../language/filters/filter.ts'
import type { Engine, Outcome, Page, Query, Search, Target, Write } from './contract.ts'
import { inFrontOf } from './fronts.ts'

export interface Listener {
  /** What to read or write is known, and is about to be. */
  begin(): void
  /** Takes a sentence, and what to show beside it where more is wanted. */
  note(message: string, data?: () => object): void
}

export function traced(engine: Engine, listener: Listener): Engine {
  /** Asks, and tells how it went. */
  const timed = async <T>(
    ask: () => Promise<T>,
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
      listener.note(`The store gave up after ${ms()} ms`)
      throw error
    }
  }

  /** The same for what a target holds. */
  const timedOnTarget: typeof timed = (ask, says, data) => {
    listener.begin()
    return timed(ask, says, data)
  }
  const changing = (ask: () => Promise<boolean>) =>
    timed(ask, (changed) => (changed ? 'Changed the schema' : 'Found nothing to change'))

  return inFrontOf(engine, {
    as: (credentials) => traced(engine.as(credentials), listener),
    listKeyspaces: () => engine.listKeyspaces(),
    createKeyspace: (name, options) => changing(() => engine.createKeyspace(name, options)),
    dropKeyspace: (name) => changing(() => engine.dropKeyspace(name)),
    listTargets: (keyspace) => engine.listTargets(keyspace),
    findTarget: (keyspace, name) => engine.findTarget(keyspace, name),
    readSchema: (keyspace) => engine.readSchema(keyspace),
    changeSchema: (keyspace, plan) => changing(() => engine.changeSchema(keyspace, plan)),
    lockSchema: (keyspace, act, caller) => engine.lockSchema(keyspace, act, caller),
    read: (target, query, caller) =>
      timedOnTarget(
        () => engine.read(target, query, caller),
        sayRead,
        () => describeQuery(target, query),
      ),
    count: (target, filter, stopAt, caller) =>
      timedOnTarget(
        () => engine.count(target, filter, stopAt, caller),
        (count) => `Counted ${count ?? 'no'} ${things(count)}`,
        () => ({ ...describeTarget(target), filter: describeFilter(filter), stopAt }),
      ),
    search: (target, search, caller) =>
      timedOnTarget(
        () => engine.search(target, search, caller),
        (found) =>
          `Searched by ${search.by.kind} and found ${found?.hits.length ?? 'no'} ` +
          things(found?.hits.length),
        () => describeSearch(target, search),
      ),
    estimateCount: (target) =>
      timedOnTarget(
        () => engine.estimateCount(target),
        (count) => `Estimated ${count} ${things(count)}`,
      ),
    write: (target, writes, options) =>
      timedOnTarget(
        () => engine.write(target, writes, options),
        (outcomes) => sayWritten(writes, outcomes),
        (outcomes) => ({ ...describeTarget(target), outcomes: countEach(outcomes) }),
      ),
    truncate: (target) =>
      timedOnTarget(
        () => engine.truncate(target),
        () => 'Deleted all records',
        () => describeTarget(target),
      ),
    readSetting: (name) => engine.readSetting(name),
    writeSetting: (name, value, expected) => engine.writeSetting(name, value, expected),
    watchSettings: (listener) => engine.watchSettings(listener),
    close: () => engine.close(),
  })
}

function sayRead({ records, joined, way }: Page): string {
  const count = joined?.count ?? records.length
  return `Read ${count} ${things(count)}${way === undefined ? '' : ` by ${way}`}`
}

function sayWritten(writes: readonly Write[], outcomes: readonly Outcome[]): string {
  const done = outcomes.filter((outcome) => outcome === 'done').length
  const kinds = Object.keys(countEach(writes.map(({ kind }) => kind))).join(', ')
  const all = done === writes.length ? '' : ` of ${writes.length}`
  return `Wrote ${done}${all} ${things(writes.length)} (${kinds || 'nothing to do'})`
}

function describeQuery(target: Target, query: Query): object {
  return {
    ...describeTarget(target),
    filter: describeFilter(query.filter),
    sort: query.sort.map(({ path, direction }) => `${path.text} ${direction}`),
    limit: query.limit,
    skip: query.skip,
    isLaterPage: query.after !== undefined,
  }
}

function describeSearch(target: Target, { by, filter, limit, after }: Search): object {
  return {
    ...describeTarget(target),
    by: by.kind,
    path: by.path,
    filter: describeFilter(filter),
    limit,
    isLaterPage: after !== undefined,
  }
}

function describeTarget({ kind, name }: Target): object {
  return { [kind]: name }
}

/** What is compared and how, without what with. */
function describeFilter(filter: Filter): string[] {
  return flatten(filter).map((part) =>
    part.kind === 'or' ? `or of ${part.of.length}` : `${part.path.text} ${part.kind}`,
  )
}

function countEach(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

function things(count: number | undefined): string {
  return count === 1 ? 'record' : 'records'
}
