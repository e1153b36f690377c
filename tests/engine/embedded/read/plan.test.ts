/** Plans of reads, compared as values. Each plan is computed from given counts, without a store. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  planCount,
  planRead,
  type Plan,
} from '../../../../src/engine/embedded/read/plan.ts'
import { printPlan } from '../../../../src/engine/embedded/read/print-plan.ts'
import type { Statistics } from '../../../../src/engine/embedded/read/statistics.ts'
import type { StoreQuery } from '../../../../src/engine/embedded/read/store-query.ts'
import { EngineError } from '../../../../src/engine/errors.ts'
import { keyOf } from '../../../../src/language/values/key.ts'
import { everything, type Filter } from '../../../../src/language/filters/filter.ts'
import { among, by, where } from '../../store.ts'

/** The paths that occur in some document. The number of a path is its position in this list. */
const paths = ['city', 'year', 'tags', 'lang']

interface Counts {
  readonly tie?: Statistics['tie']
  readonly documents?: number
  /**
   * Number of index entries by path. For simplicity, each single value of the path has the same
   * number.
   */
  readonly entries?: Readonly<Record<string, number>>
  readonly ids?: number
}

/** Statistics that return the given counts. They fail when the planner requests another count. */
function counted({ tie = 'doc', documents, entries = {}, ids }: Counts): Statistics {
  const given = (count: number | undefined, what: string): number => {
    assert(count !== undefined, `${what} counted`)
    return count
  }
  const entriesOf = (path: number) => given(entries[paths[path]!], paths[path]!)
  return {
    tie,
    pathId: (path) =>
      path === 'text' ? 'unindexed' : paths.includes(path) ? paths.indexOf(path) : 'absent',
    documents: () => given(documents, 'documents were'),
    documentsWith: (path) => given(entries[path] ?? 0, path),
    entriesOf,
    entriesWithin: ({ path }) => entriesOf(path),
    idsWithin: () => given(ids, 'ids were'),
    documentsWithTerms: () => given(entries['text'], 'terms were'),
  }
}

function queryOf(query: Partial<StoreQuery>): StoreQuery {
  return {
    ...{ filter: everything, sort: [], skip: 0, limit: 20, after: undefined },
    ...{ stable: false, withSearchFields: false, ...query },
  }
}

function planOf(query: Partial<StoreQuery>, counts: Counts = {}): Plan {
  return planRead(queryOf(query), counted(counts))
}

function all(...of: Filter[]): Filter {
  return { kind: 'and', of }
}

/** The index entry of a value, in the form in which access paths and checks contain it. */
function entry(path: string, value: string | number) {
  return { pathText: path, path: paths.indexOf(path), value: keyOf(value) }
}

function check(path: string, value: string | number) {
  const kind = { kind: 'entry', isValueOnly: false } as const
  return { ...kind, ...entry(path, value), exact: true, lookups: 1 }
}

const always = { kind: 'always', exact: true, lookups: 0 }
const unknown = { kind: 'unknown', exact: false, lookups: 0 }
const inRome = where('city', 'eq', 'Rome')
const in1960 = where('year', 'eq', 1960)
const since1960 = where('year', 'gte', 1960)

describe('a plan without a sort', () => {
  test('is frozen, and reads only one document if the filter names its _id', () => {
    const plan = planOf({ filter: where('_id', 'eq', 7) })
    assert.deepEqual(plan, {
      access: { kind: 'id', id: 7, rest: everything },
      ...{ check: always, document: undefined, order: { by: 'path' }, expected: 1 },
      intersects: false,
    })
    assert(Object.isFrozen(plan))
  })

  test('follows the only access path without counting its entries', () => {
    assert.deepEqual(planOf({ filter: inRome }), {
      access: { kind: 'keys', keys: [entry('city', 'Rome')], rest: everything },
      ...{ check: always, document: undefined, order: { by: 'path' } },
      ...{ expected: undefined, intersects: false },
    })
  })

  test('follows the access path with the fewest entries and checks the other in the index', () => {
    const counts = { documents: 10_000, entries: { city: 900, year: 30 } }
    assert.deepEqual(planOf({ filter: all(inRome, in1960) }, counts), {
      access: { kind: 'keys', keys: [entry('year', 1960)], rest: all(inRome) },
      check: check('city', 'Rome'),
      ...{ document: undefined, order: { by: 'path' }, expected: 30 },
      intersects: false,
    })
  })

  test('intersects two conditions, unless a part of the entries suffices to fill the page', () => {
    const intersects = (counts: Counts, limit = 20) =>
      planOf({ filter: all(inRome, in1960), limit }, counts).intersects
    const rare = { documents: 100_000, entries: { city: 1_000, year: 1_250 } }
    assert.equal(intersects(rare), true)
    const frequent = { documents: 100_000, entries: { city: 1_000, year: 50_000 } }
    assert.equal(intersects(frequent), false)
    assert.equal(intersects(frequent, 1_000), true)
    // The entries of rows are in the order of ids, and not of document numbers.
    assert.equal(intersects({ ...rare, tie: 'id' }), false)
  })

  test('checks in the documents only the conditions that the index does not decide', () => {
    const long = where('text', 'eq', 'long')
    const counts = { documents: 10_000, entries: { city: 900, year: 30 } }
    const plan = planOf({ filter: all(inRome, in1960, long) }, counts)
    assert.deepEqual(plan.check, { ...check('city', 'Rome'), exact: false })
    assert.deepEqual(plan.document, all(long))
  })

  test('reads all documents when nothing is indexed', () => {
    const filter = where('text', 'eq', 'long')
    assert.deepEqual(planOf({ filter }), {
      access: { kind: 'all', rest: filter },
      ...{ check: unknown, document: filter, order: { by: 'path' }, expected: undefined },
      intersects: false,
    })
  })

  test('follows a range, unless the read must be stable', () => {
    assert.equal(planOf({ filter: since1960 }).access.kind, 'range')
    const counts = { documents: 10_000, entries: { year: 9_000 } }
    const stable = planOf({ filter: since1960, stable: true }, counts)
    assert.equal(stable.access.kind, 'all')
    assert.deepEqual(stable.document, since1960)
  })

  test('keeps the access path of the first page on later pages', () => {
    const after = { by: 'range', path: 'year', value: keyOf(1961), seq: 3 } as const
    assert.equal(planOf({ filter: all(inRome, since1960), after }).access.kind, 'range')
    assert.throws(() => planOf({ filter: inRome, after }), EngineError)
  })

  test('lists a range if that costs less than reading the documents outside of it', () => {
    const until1970 = where('year', 'lte', 1970)
    const filter = all(inRome, since1960, until1970)
    const planFor = (year: number) =>
      planOf({ filter }, { documents: 100_000, entries: { city: 1_000, year } })
    const { access, check, document } = planFor(2_500)
    assert.equal(access.kind, 'keys')
    assert(check.kind === 'range')
    const { pathText, low, high } = check.range
    assert.equal(pathText, 'year')
    assert.deepEqual([low.key, high.key], [keyOf(1960), keyOf(1970)])
    assert.equal(document, undefined)
    // About 26 documents of Rome are read to find 21 since 1960.
    const { check: unlisted, document: compared } = planFor(80_000)
    assert.deepEqual(unlisted, unknown)
    assert.deepEqual(compared, all(since1960, until1970))
  })

  test('lists a range of $or, and the documents that have a field', () => {
    const counts = { documents: 10_000, entries: { city: 300, year: 20, tags: 5 } }
    const either: Filter = { kind: 'or', of: [inRome, since1960] }
    const { check } = planOf({ filter: either }, counts)
    assert(check.kind === 'or')
    assert.deepEqual(
      check.of.map(({ kind }) => kind),
      ['entry', 'range'],
    )
    const untagged: Filter = { ...where('tags', 'eq', 0), kind: 'exists', exists: false }
    const plan = planOf({ filter: all(inRome, untagged) }, counts)
    assert.equal(plan.check.kind, 'not')
    assert.equal(plan.document, undefined)
  })

  test('counts the matches of a range from its index entries', () => {
    const plan = planCount(since1960, counted({}))
    assert.equal(plan.access.kind, 'range')
    assert.deepEqual(plan.check, always)
  })

  test('reads no entries of a path that no document has', () => {
    const { access } = planOf({ filter: where('absent', 'eq', 1) })
    assert.deepEqual(access, { kind: 'keys', keys: [], rest: everything })
  })
})

describe('a plan with a sort', () => {
  const keys = by('year')

  test('sorts few matches in memory', () => {
    const counts = { documents: 10_000, entries: { city: 49 } }
    assert.deepEqual(planOf({ filter: inRome, sort: keys }, counts), {
      access: { kind: 'keys', keys: [entry('city', 'Rome')], rest: everything },
      ...{
        check: always,
        document: undefined,
        order: { by: 'memory', keys },
        expected: 49,
        intersects: false,
      },
    })
  })

  test('walks the index of the sort when many documents match', () => {
    const counts = { documents: 10_000, entries: { city: 2_000, year: 9_000 } }
    const plan = planOf({ filter: inRome, sort: keys, limit: 19 }, counts)
    assert.deepEqual(plan, {
      access: { kind: 'all', rest: inRome },
      check: check('city', 'Rome'),
      document: undefined,
      order: {
        ...{ by: 'values', keys, path: 1, documents: 10_000, without: 1_000 },
        // `groupMax` is the square root of 20 rows times 10 000 documents.
        ...{ matches: 2_000, groupMax: 448, unlistedMax: 5_000 },
      },
      ...{ expected: 100, intersects: false },
    })
  })

  test('sorts groups of any size with an equal first value when there is a second key', () => {
    const counts = { documents: 10_000, entries: { year: 10_000 } }
    const { order } = planOf({ sort: by('year', '-lang') }, counts)
    assert(order.by === 'values')
    assert.equal(order.groupMax, Infinity)
    assert.equal(order.matches, undefined)
  })

  test('sorts all documents by a field without an index', () => {
    const sort = by('text')
    const plan = planOf({ sort }, { documents: 500 })
    assert.deepEqual(plan.order, { by: 'memory', keys: sort })
    assert.equal(plan.access.kind, 'all')
    assert.equal(plan.expected, 500)
  })

  test('walks the documents in the order of their ids, within the range of the filter', () => {
    const sort = by('-_id')
    const { access, order, check } = planOf({ filter: where('_id', 'gt', 5), sort })
    assert.deepEqual(order, { by: 'ids', keys: sort, direction: -1 })
    assert.equal(access.kind, 'idRange')
    assert.deepEqual(check, always)
  })

  test('by id sorts fewer than 1 000 matches in memory', () => {
    const orderOf = (city: number) =>
      planOf({ filter: inRome, sort: by('_id') }, { documents: 100, entries: { city } })
        .order
    assert.equal(orderOf(999).by, 'memory')
    assert.equal(orderOf(1_000).by, 'ids')
  })

  test('by id follows the index entries of rows, which are in the order of ids', () => {
    const filter = among('city', 'in', ['Rome', 'Pisa'])
    const { access, order } = planOf({ filter, sort: by('_id') }, { tie: 'id' })
    assert.equal(access.kind, 'keys')
    assert.equal(order.by, 'ids')
  })

  test('rejects the position of another sort', () => {
    const after = { by: 'sort', values: [1, 2], id: 3 } as const
    assert.throws(() => planOf({ sort: keys, after }), EngineError)
  })
})

describe('a printed plan', () => {
  const printed = (query: Partial<StoreQuery>, counts?: Counts) =>
    printPlan(planOf(query, counts))

  test('names the access path, and the conditions that the index and the documents check', () => {
    const long = where('text', 'eq', 'long')
    const counts = { documents: 10_000, entries: { city: 900, year: 30 } }
    assert.equal(printed({ filter: where('_id', 'eq', 7) }), 'one _id')
    assert.equal(
      printed({ filter: all(inRome, in1960, long) }, counts),
      '1 value in the index of year; the index checks city; documents check text eq',
    )
    assert.equal(
      printed(
        { filter: since1960, stable: true },
        { documents: 10_000, entries: { year: 9_000 } },
      ),
      'all documents; documents check year gte',
    )
    assert.equal(
      printed(
        { filter: all(inRome, since1960) },
        { documents: 10_000, entries: { city: 900, year: 1_000 } },
      ),
      '1 value in the index of city; the index checks year (a list of 1000)',
    )
    assert.equal(
      printed(
        { filter: all(inRome, in1960) },
        { documents: 10_000, entries: { city: 900, year: 100 } },
      ),
      '1 value in the index of year; intersected with city',
    )
  })

  test('states how the order is produced', () => {
    const walked = { documents: 10_000, entries: { city: 2_000, year: 9_000 } }
    assert.equal(
      printed({ filter: inRome, sort: by('year'), limit: 19 }, walked),
      'the index of year in its order, up to 448 documents of one value sorted, ' +
        'more walked by _id; 1000 documents without it; the index checks city',
    )
    assert.equal(
      printed(
        { filter: inRome, sort: by('year') },
        { documents: 100, entries: { city: 3 } },
      ),
      '1 value in the index of city, sorted in memory by year',
    )
    assert.equal(printed({ sort: by('_id') }), 'all documents, in the order of ids')
  })

  test('contains at most eight names of at most 80 characters', () => {
    const names = Array.from({ length: 20 }, (_, i) => `${i}${'x'.repeat(100)}`)
    const filter = all(...names.map((name) => where(name, 'gt', 1)))
    const counts = { documents: 0, entries: { city: 0 } }
    const line = printed({ filter, stable: true }, counts)
    assert.match(line, / and 12 more$/)
    assert(line.length < 1_000)
  })
})
