import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  idFilter,
  idParts,
  keyPrefix,
} from '../../../../src/engine/embedded/format/key-filter.ts'
import { keyText } from '../../../../src/engine/embedded/schema/key-text.ts'
import { RowView } from '../../../../src/engine/embedded/format/row-view.ts'
import type {
  StoredColumn,
  StoredTable,
} from '../../../../src/engine/embedded/schema/stored-schema.ts'
import type { Value } from '../../../../src/json/value.ts'
import { compareValues } from '../../../../src/language/values/order.ts'
import { matches } from '../../../../src/language/filters/matches.ts'
import {
  addCondition,
  type KeyCondition,
} from '../../../../src/language/columns/key-conditions.ts'

const names = ['a', 'b', 'c', 'd']
const directions = [1, 1, -1, 1] as const

/** Two partition columns and two sort columns; the first sort column is descending. */
const table: StoredTable = {
  kind: 'table',
  keyspace: 'k',
  name: 't',
  uid: 'u',
  types: [],
  definition: {
    columns: names.map((name, id): StoredColumn => ({
      name,
      id,
      key: name,
      type: { type: 'text' },
    })),
    partitionBy: ['a', 'b'],
    partitionSort: [
      { column: 'c', direction: -1 },
      { column: 'd', direction: 1 },
    ],
    indexes: [],
    dropped: [],
    lastId: 4,
  },
}
const view = new RowView(table)

/**
 * A small set of values, so that random values are often equal. It includes special cases of the
 * order of texts.
 */
const value = fc.constantFrom<Value>(
  '',
  '\0',
  '\0\0',
  '\u00ff',
  'a',
  'ab',
  'b',
  -1,
  0,
  1.5,
  1e300,
)
const bound = fc.record({ value, inclusive: fc.boolean() })
const condition: fc.Arbitrary<KeyCondition> = fc.oneof(
  fc.record({ eq: fc.array(value, { maxLength: 3 }) }),
  fc.record({ low: bound, high: bound }, { requiredKeys: [] }),
)
const key = fc.tuple(value, value, value, value)

function holds(candidate: Value, { eq, low, high }: KeyCondition): boolean {
  if (eq !== undefined && !eq.some((one) => compareValues(candidate, one as Value) === 0))
    return false
  const above = low === undefined ? 1 : compareValues(candidate, low.value as Value)
  const below = high === undefined ? -1 : compareValues(candidate, high.value as Value)
  return (
    (above > 0 || (above === 0 && low!.inclusive)) &&
    (below < 0 || (below === 0 && high!.inclusive))
  )
}

function idOf(values: readonly Value[]): string {
  return keyText(values.map((part, i) => ({ value: part, direction: directions[i]! })))
}

/** SEED repeats a failed run. */
const seed = Number(process.env['SEED'] ?? Date.now())

test('a filter on ids matches the same rows as the conditions on key columns', () => {
  fc.assert(
    fc.property(
      fc.array(condition, { maxLength: 4 }),
      fc.array(key, { maxLength: 20 }),
      (given, keys) => {
        const conditions = new Map(given.map((one, i) => [names[i]!, one]))
        const filter = idFilter(view, conditions)
        const usable =
          given.length >= 2 &&
          given.slice(0, -1).every(({ eq }) => eq !== undefined) &&
          given[1]!.eq !== undefined
        assert.equal(filter !== undefined, usable)
        if (filter === undefined) return
        for (const values of keys) {
          const expected = given.every((one, i) => holds(values[i]!, one))
          const document = new Map([['_id', idOf(values)]])
          assert.equal(matches(filter, document), expected)
        }
      },
    ),
    { seed, numRuns: 500 },
  )
})

test('a combination of two conditions holds exactly when both hold', () => {
  fc.assert(
    fc.property(condition, condition, value, (one, other, candidate) => {
      const both = new Map<string, KeyCondition>()
      const [column] = table.definition.columns
      for (const said of [one, other]) addCondition(both, column!, said, [])
      assert.equal(
        holds(candidate, both.get('a')!),
        holds(candidate, one) && holds(candidate, other),
      )
    }),
    { seed, numRuns: 500 },
  )
})

test('a key prefix ends at the first gap in the conditions', () => {
  const eq = { eq: ['x'] }
  const range = { low: { value: 1, inclusive: true } }
  const used = (conditions: Record<string, KeyCondition>) => {
    const prefix = keyPrefix(view, new Map(Object.entries(conditions)))
    return prefix && [...prefix.keys()]
  }
  assert.deepEqual(used({ a: eq, b: eq, d: eq }), ['a', 'b'])
  assert.deepEqual(used({ a: eq, b: eq, c: range, d: eq }), ['a', 'b', 'c'])
  assert.deepEqual(used({ a: eq, b: eq, c: eq, d: range }), ['a', 'b', 'c', 'd'])
  assert.equal(used({ a: eq, b: range }), undefined)
  assert.equal(used({ a: eq, c: eq }), undefined)
  assert.equal(
    idFilter(
      view,
      new Map([
        ['a', eq],
        ['b', eq],
        ['d', eq],
      ]),
    ),
    undefined,
  )
})

test('an id filter has at most 1 000 combinations', () => {
  const values = (count: number) => ({ eq: Array.from({ length: count }, (_, i) => i) })
  const conditions = (count: number) =>
    new Map([
      ['a', values(count)],
      ['b', values(10)],
    ])
  assert.notEqual(idFilter(view, conditions(100)), undefined)
  assert.equal(idFilter(view, conditions(101)), undefined)
  assert.equal([...idParts(view, conditions(101))!].length, 1010)
})
