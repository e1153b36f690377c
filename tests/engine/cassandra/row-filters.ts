/**
 * Random filters on rows. Their operands often equal values of the rows, so that filters match
 * some of them.
 */
import fc from 'fast-check'
import type { Column, Table } from '../../../src/engine/schema.ts'
import type { Value } from '../../../src/json/value.ts'
import { entriesOf, isCollection } from '../../../src/language/columns/collections.ts'
import type { ColumnPart, ColumnValue } from '../../../src/language/columns/column.ts'
import type { RowCondition, RowFilter } from '../../../src/language/columns/row-filter.ts'

export function rowFilters(
  table: Table,
  rows: readonly ReadonlyMap<string, ColumnValue>[],
): fc.Arbitrary<RowFilter> {
  const { columns } = table.definition
  const filtered = columns.filter(
    ({ type }) => type.type !== 'vector' && type.type !== 'userDefined',
  )
  const conditions = fc
    .tuple(fc.constantFrom(...filtered), fc.nat(rows.length - 1), fc.nat(1_000))
    .map(([column, position, choice]) => conditionOn(column, rows, position, choice))
    .filter((condition) => condition !== undefined)
  return fc.letrec<{ filter: RowFilter }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      conditions as fc.Arbitrary<RowFilter>,
      fc.record({
        kind: fc.constantFrom('and', 'or'),
        of: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }),
      }) as fc.Arbitrary<RowFilter>,
    ),
  })).filter
}

function conditionOn(
  column: Column,
  rows: readonly ReadonlyMap<string, ColumnValue>[],
  position: number,
  choice: number,
): RowCondition | undefined {
  const held = (at: number) => rows[at % rows.length]!.get(column.name) as Value | undefined
  const { type } = column
  if (!isCollection(type)) {
    const values = [held(position), held(position + choice)].filter(
      (one) => one !== undefined,
    )
    const kinds = ['eq', 'in', 'ne', 'nin', 'gt', 'gte', 'lt', 'lte'] as const
    const kind = kinds[choice % (type.type === 'duration' ? 4 : 8)]!
    if (values.length === 0) return undefined
    const operands = kind === 'in' || kind === 'nin' ? values : values.slice(0, 1)
    return { kind, column, part: 'value', operands }
  }
  const stored = held(position)
  if (stored === undefined) return undefined
  const kind = (['in', 'all', 'nin', 'notAll'] as const)[choice % 4]!
  const part: ColumnPart =
    type.type === 'map' ? (['value', 'keys', 'values'] as const)[choice % 3]! : 'value'
  const elements =
    type.type !== 'map'
      ? (stored as Value[])
      : entriesOf(stored).map(([key, value]) =>
          part === 'value' ? [key, value] : part === 'keys' ? key : value,
        )
  return { kind, column, part, operands: elements.slice(0, 1 + (choice % 2)) }
}
