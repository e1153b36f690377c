/** The CQL conditions for a filter, and the columns that the server must check itself. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Capabilities } from '../../../src/engine/cassandra/cluster/capabilities.ts'
import type { QueryUse } from '../../../src/engine/cassandra/rows/row-branch.ts'
import { rowConditions } from '../../../src/engine/cassandra/rows/row-conditions.ts'
import type { Column, Table } from '../../../src/engine/schema.ts'
import type { Value } from '../../../src/json/value.ts'
import type { ColumnPart } from '../../../src/language/columns/column.ts'
import type { ColumnType } from '../../../src/language/columns/column-type.ts'
import type {
  ComparisonKind,
  RowCondition,
  RowFilter,
} from '../../../src/language/columns/row-filter.ts'
import { conditionsOf } from '../../../src/language/filters/filter-clause.ts'
import { apache, fork } from './capabilities.ts'

const place = { type: 'userDefined', udtName: 'place' } as const

const columns = Object.entries({
  p: { type: 'int' },
  q: { type: 'double' },
  c: { type: 'text' },
  d: { type: 'inet' },
  n: { type: 'int' },
  x: { type: 'int' },
  f: { type: 'double' },
  g: { type: 'double' },
  t: { type: 'text' },
  folded: { type: 'text' },
  words: { type: 'text' },
  address: { type: 'inet' },
  tags: { type: 'set', valueType: 'text' },
  plain: { type: 'list', valueType: 'text' },
  places: { type: 'list', valueType: place },
  m: { type: 'map', keyType: 'text', valueType: 'decimal' },
  k: { type: 'map', keyType: 'text', valueType: 'int' },
} satisfies Record<string, ColumnType>).map(([name, type]): Column => ({ name, type }))

const regular = (column: string, part: ColumnPart = 'value') =>
  ({ kind: 'regular', name: `${column}_${part}`, column, part }) as const

const table: Table = {
  kind: 'table',
  keyspace: 'ks',
  name: 'things',
  uid: '1',
  definition: {
    columns,
    partitionBy: ['p', 'q'],
    partitionSort: [
      { column: 'c', direction: 1 },
      { column: 'd', direction: -1 },
    ],
    indexes: [
      ...['n', 'f', 't', 'address', 'tags', 'places', 'm', 'k'].map((name) =>
        regular(name),
      ),
      regular('k', 'keys'),
      {
        ...regular('folded'),
        folding: { ascii: false, caseSensitive: false, normalize: false },
      },
      { kind: 'text', name: 'terms', column: 'words', analyzer: 'standard' },
    ],
  },
  types: [{ name: 'place', fields: [{ name: 'street', type: 'text' }] }],
}

function is(
  name: string,
  kind: ComparisonKind,
  operands: readonly Value[],
  part: ColumnPart = 'value',
): RowCondition {
  const column = columns.find((candidate) => candidate.name === name)!
  return { kind, column, part, operands }
}

const and = (...of: RowFilter[]): RowFilter => ({ kind: 'and', of })
const or = (...of: RowFilter[]): RowFilter => ({ kind: 'or', of })

interface Expected {
  /** The WHERE clause of each query, without quotation marks. */
  readonly says: readonly string[]
  /** The columns whose conditions the server checks on the returned rows. */
  readonly left?: readonly string[]
  readonly isDisjoint?: boolean
  readonly isServed?: boolean
}

function expect(
  filter: RowFilter,
  { says, left = [], isDisjoint = true, isServed = true }: Expected,
  { can = apache, use = 'read' }: { can?: Capabilities; use?: QueryUse } = {},
) {
  const { branches, areDisjoint } = rowConditions(table, filter, can, use)
  const shown = branches.map(({ terms, allowFiltering }) => {
    const text = terms
      .map((term) => term.text)
      .join(' AND ')
      .replaceAll('"', '')
    return allowFiltering ? `${text} ALLOW FILTERING` : text
  })
  assert.deepEqual(shown, says)
  assert.equal(areDisjoint, isDisjoint)
  for (const branch of branches) {
    assert.equal(branch.isServed, isServed)
    assert.deepEqual(
      conditionsOf(branch.rest).map(({ column }) => column.name),
      left,
    )
  }
}

describe('conditions on the key', () => {
  const partition = and(is('p', 'eq', [1]), is('q', 'eq', [1.5]))

  test('become conditions on the partition and on a prefix of its sort columns', () => {
    expect(partition, { says: ['p = ? AND q = ?'] })
    expect(and(partition, is('c', 'gte', ['a']), is('c', 'lt', ['b'])), {
      says: ['p = ? AND q = ? AND c >= ? AND c < ?'],
    })
    expect(and(partition, is('c', 'eq', ['a']), is('d', 'gt', ['1.2.3.4'])), {
      says: ['p = ? AND q = ? AND c = ? AND d > ?'],
      left: ['d'],
    })
  })

  test('use ALLOW FILTERING after a gap in the sort columns', () => {
    expect(and(partition, is('d', 'eq', ['1.2.3.4'])), {
      says: ['p = ? AND q = ? AND d = ? ALLOW FILTERING'],
      left: ['d'],
    })
  })

  test('use ALLOW FILTERING after a range, even if the column has an index', () => {
    const { definition } = table
    const indexed: Table = {
      ...table,
      definition: { ...definition, indexes: [...definition.indexes, regular('d')] },
    }
    const filter = and(partition, is('c', 'gt', ['a']), is('d', 'eq', ['1.2.3.4']))
    const { branches } = rowConditions(indexed, filter, apache)
    assert.deepEqual(
      branches.map(({ terms, allowFiltering }) => [terms.length, allowFiltering]),
      [[4, true]],
    )
  })

  test('become one query for each combination of partition values', () => {
    expect(and(is('p', 'in', [1, 2, 1]), is('q', 'in', [1.5, 2.5])), {
      says: Array.from({ length: 4 }, () => 'p = ? AND q = ?'),
    })
  })

  test('use no index when a sort column has several values', () => {
    expect(and(partition, is('c', 'in', ['a', 'b']), is('n', 'eq', [1])), {
      says: ['p = ? AND q = ? AND c IN ?'],
      left: ['n'],
    })
  })

  test('match both signed zeros', () => {
    const { branches } = rowConditions(
      table,
      and(is('p', 'eq', [1]), is('q', 'eq', [0])),
      apache,
    )
    assert.deepEqual(
      branches.map(({ terms }) => terms.flatMap(({ values }) => values)),
      [
        [1, -0],
        [1, 0],
      ],
    )
  })

  test('need no query when they contradict each other', () => {
    expect(and(partition, is('p', 'eq', [2])), { says: [] })
    expect(and(is('x', 'in', [])), { says: [] })
    expect(or(), { says: [] })
  })

  test('use ALLOW FILTERING for a part of the partition key', () => {
    expect(is('p', 'eq', [1]), { says: ['p = ? ALLOW FILTERING'], isServed: false })
    expect(and(is('p', 'in', [1, 2]), is('n', 'eq', [1])), { says: ['n = ?'], left: ['p'] })
  })

  test('are checked by the server when they name too many partitions', () => {
    const many = Array.from({ length: 100 }, (_, i) => i + 1)
    expect(and(is('p', 'in', many), is('q', 'in', many)), {
      says: [''],
      left: ['p', 'q'],
      isServed: false,
    })
  })

  test('are the only conditions in the query of a backward read', () => {
    expect(
      and(partition, is('c', 'gt', ['a']), is('x', 'eq', [1])),
      { says: ['p = ? AND q = ? AND c > ?'], left: ['x'] },
      { use: 'readBackwards' },
    )
  })

  test('on texts are checked by the server when Cassandra orders the texts differently', () => {
    expect(and(partition, is('c', 'gt', ['\uFFFD'])), {
      says: ['p = ? AND q = ?'],
      left: ['c'],
    })
  })
})

describe('conditions on single values', () => {
  test('use one index, and ALLOW FILTERING for the other conditions', () => {
    expect(is('n', 'eq', [1]), { says: ['n = ?'] })
    expect(and(is('n', 'gt', [1]), is('n', 'lte', [5])), { says: ['n > ? AND n <= ?'] })
    expect(and(is('x', 'eq', [1]), is('n', 'eq', [1])), {
      says: ['n = ? AND x = ? ALLOW FILTERING'],
    })
    expect(is('x', 'in', [1, 2]), { says: ['x IN ? ALLOW FILTERING'], isServed: false })
  })

  test('are merged when they are redundant', () => {
    expect(and(is('n', 'eq', [3]), is('n', 'gt', [1]), is('n', 'in', [3, 4])), {
      says: ['n = ?'],
    })
  })

  test('with several values become a query for each value, or one query with IN if the cluster supports it', () => {
    expect(is('n', 'in', [1, 2, 2]), { says: ['n = ?', 'n = ?'] })
    expect(is('n', 'in', [1, 2, 2]), { says: ['n IN ?'] }, { can: fork })
  })

  test('use no index for ranges of texts', () => {
    expect(is('t', 'gt', ['a']), { says: ['t > ? ALLOW FILTERING'], isServed: false })
  })

  test('on ranges of addresses are checked by the server', () => {
    expect(is('address', 'gt', ['1.2.3.4']), {
      says: [''],
      left: ['address'],
      isServed: false,
    })
    expect(is('address', 'eq', ['1.2.3.4']), { says: ['address = ?'], left: ['address'] })
  })

  test('on columns with a folding index use the index, and are checked by the server', () => {
    expect(is('folded', 'eq', ['A']), { says: ['folded = ?'], left: ['folded'] })
    expect(is('folded', 'in', ['A', 'b', 'a']), {
      says: ['folded = ?', 'folded = ?'],
      left: ['folded'],
    })
  })

  test('use no index for texts that may be too long for an index', () => {
    expect(is('t', 'eq', ['x'.repeat(5_000)]), { says: [''], left: ['t'], isServed: false })
  })

  test('match both signed zeros by a range', () => {
    expect(is('f', 'eq', [0]), { says: ['f >= ? AND f <= ?'] })
    const valuesOf = (kind: ComparisonKind) =>
      rowConditions(table, is('g', kind, [0]), apache).branches[0]!.terms[0]!.values
    assert.deepEqual(valuesOf('gte'), [-0])
    assert.deepEqual(valuesOf('gt'), [0])
    assert.deepEqual(valuesOf('lt'), [-0])
    assert.deepEqual(valuesOf('lte'), [0])
  })

  test('with negations are checked by the server, unless the cluster supports them', () => {
    expect(is('n', 'ne', [1]), { says: [''], left: ['n'], isServed: false })
    expect(is('n', 'ne', [1]), { says: ['n != ?'] }, { can: fork })
    expect(
      is('t', 'nin', ['a', 'b']),
      { says: ['t NOT IN ? ALLOW FILTERING'], isServed: false },
      { can: fork },
    )
  })

  test('use an index of terms if the cluster has one', () => {
    const column = columns.find(({ name }) => name === 'words')!
    const match = {
      kind: 'match',
      column,
      part: 'value',
      text: 'a b',
      terms: ['a', 'b'],
    } as const
    expect(match, { says: [''], left: ['words'], isServed: false })
    expect(match, { says: ['words : ?'] }, { can: fork })
    expect(
      is('words', 'eq', ['a b']),
      { says: [''], left: ['words'], isServed: false },
      { can: fork },
    )
  })
})

describe('conditions on collections', () => {
  test('on elements become CONTAINS', () => {
    expect(is('tags', 'all', ['a', 'b']), { says: ['tags CONTAINS ? AND tags CONTAINS ?'] })
    expect(is('tags', 'in', ['a', 'b']), {
      says: ['tags CONTAINS ?', 'tags CONTAINS ?'],
      isDisjoint: false,
    })
    expect(
      is('tags', 'in', ['a', 'b']),
      { says: ['(tags CONTAINS ? OR tags CONTAINS ?)'] },
      { can: fork },
    )
    expect(is('plain', 'all', ['a']), {
      says: ['plain CONTAINS ? ALLOW FILTERING'],
      isServed: false,
    })
  })

  test('on keys, values and entries of maps become CONTAINS KEY, CONTAINS and a comparison of entries', () => {
    expect(is('k', 'in', ['a'], 'keys'), { says: ['k CONTAINS KEY ?'] })
    expect(is('k', 'in', [1], 'values'), {
      says: ['k CONTAINS ? ALLOW FILTERING'],
      isServed: false,
    })
    expect(
      is('k', 'all', [
        ['a', 1],
        ['b', 2],
      ]),
      { says: ['k[?] = ? AND k[?] = ?'] },
    )
  })

  test('are checked by the server when the index distinguishes equal values', () => {
    expect(is('m', 'all', [['a', 1]]), { says: [''], left: ['m'], isServed: false })
    expect(is('places', 'all', [new Map([['street', 'Elm']])]), {
      says: [''],
      left: ['places'],
      isServed: false,
    })
  })

  test('with negations are checked by the server, unless the cluster supports them', () => {
    expect(is('tags', 'nin', ['a']), { says: [''], left: ['tags'], isServed: false })
    expect(
      is('tags', 'nin', ['a', 'b']),
      { says: ['tags NOT CONTAINS ? AND tags NOT CONTAINS ?'] },
      { can: fork },
    )
    expect(
      is('k', 'notAll', [
        ['a', 1],
        ['b', 2],
      ]),
      { says: ['(k[?] != ? OR k[?] != ?)'] },
      { can: fork },
    )
  })
})

describe('alternatives of a filter', () => {
  const either = or(is('n', 'eq', [1]), is('t', 'eq', ['a']))

  test('become one query each when every alternative has an access path', () => {
    expect(either, { says: ['n = ?', 't = ?'], isDisjoint: false })
    expect(and(either, is('x', 'eq', [1])), {
      says: ['n = ? AND x = ? ALLOW FILTERING', 't = ? AND x = ? ALLOW FILTERING'],
      isDisjoint: false,
    })
  })

  test('become a query for each partition when each names one partition', () => {
    const one = (p: number) => and(is('p', 'eq', [p]), is('q', 'eq', [1.5]))
    expect(or(one(1), one(2)), {
      says: ['p = ? AND q = ?', 'p = ? AND q = ?'],
      isDisjoint: false,
    })
  })

  test('are checked by the server when one alternative has no access path', () => {
    expect(or(is('n', 'eq', [1]), is('x', 'eq', [1])), {
      says: [''],
      left: ['n', 'x'],
      isServed: false,
    })
    expect(and(either, is('f', 'gt', [1])), { says: ['f > ?'], left: ['n', 't'] })
  })

  test('become one query if the cluster supports OR', () => {
    expect(either, { says: ['(n = ? OR t = ?)'] }, { can: fork })
    expect(
      or(and(is('x', 'eq', [1]), is('g', 'gt', [1])), is('n', 'eq', [1])),
      { says: ['((x = ? AND g > ?) OR n = ?) ALLOW FILTERING'], isServed: false },
      { can: fork },
    )
  })
})

test('a search by vector uses only conditions with an index', () => {
  expect(
    and(is('n', 'eq', [1]), is('x', 'eq', [1]), is('p', 'eq', [1])),
    { says: ['n = ?'], left: ['x', 'p'] },
    { use: 'search' },
  )
})
