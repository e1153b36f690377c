/**
 * Statements that write a row, with the semantics of CQL: when its last value is cleared, a row
 * created by an insert remains, and a row created by an update disappears.
 */
import type { Value } from '../../../json/value.ts'
import type { CollectionType } from '../../../language/columns/collections.ts'
import type { Column } from '../../../language/columns/column.ts'
import type { UserTypes } from '../../../language/columns/column-type.ts'
import type { Steps } from '../../../runtime/steps.ts'
import type { ElementChange, RowMerge } from '../../contract.ts'
import { keyNames, type Table } from '../../schema.ts'
import { quoteName, preparedTarget, type Statement } from '../cluster/statement.ts'
import { checkRowComparable } from '../cql/zero-vector.ts'
import {
  bindValue,
  bindWritten,
  bytesOfElements,
  bytesOfEntries,
  bytesOfSpellings,
  withoutSign,
} from '../cql/cql-values.ts'
import { typesMark } from './row-statements.ts'

export interface RowWrite extends Statement {
  /** Whether repeating the statement has no further effect. */
  readonly isIdempotent: boolean
}

/**
 * Statements for a merge: usually one, two for an insert with element changes, none for an update
 * without values. Two statements must be sent as a batch.
 */
export function* mergeRow(table: Table, merge: RowMerge): Steps<readonly RowWrite[]> {
  const { values, elements = new Map<Column, ElementChange>(), kind } = merge
  checkRowComparable(table, merge)
  if (kind === 'insert') {
    const inserted = yield* insert(table, values)
    return elements.size === 0
      ? [inserted]
      : [inserted, yield* update(table, values, new Map(), elements)]
  }
  const key = keyNames(table.definition)
  const set = new Map([...values].filter(([{ name }]) => !key.includes(name)))
  return set.size + elements.size === 0 ? [] : [yield* update(table, values, set, elements)]
}

type Values = RowMerge['values']

function* insert(table: Table, values: Values): Steps<RowWrite> {
  const columns = inOrder(table, values.keys())
  const key = keyNames(table.definition)
  const names = columns.map(({ name }) => quoteName(name)).join(', ')
  const marks = columns.map(() => '?').join(', ')
  const bound: unknown[] = []
  for (const column of columns)
    bound.push(
      key.includes(column.name)
        ? bindKey(column, values, table.types)
        : yield* bindWritten(column, values.get(column), table.types),
    )
  return {
    text:
      `INSERT INTO ${preparedTarget(table)} (${names}) VALUES (${marks})` +
      typesMark(columns, table),
    values: bound,
    isIdempotent: true,
  }
}

function* update(
  table: Table,
  row: Values,
  set: Values,
  elements: ReadonlyMap<Column, ElementChange>,
): Steps<RowWrite> {
  const { types, definition } = table
  const changed = inOrder(table, [...set.keys(), ...elements.keys()])
  // An update of static columns must not name clustering columns.
  const isShared = changed.every(({ isStatic }) => isStatic)
  const names = isShared ? definition.partitionBy : keyNames(definition)
  const key = names.map((name) => [...row.keys()].find((column) => column.name === name)!)
  const assignments: string[] = []
  const assigned: unknown[] = []
  for (const column of changed) {
    const name = quoteName(column.name)
    const change = elements.get(column)
    if (change === undefined) {
      assignments.push(`${name} = ?`)
      assigned.push(yield* bindWritten(column, set.get(column), types))
      continue
    }
    assignments.push(`${name} = ${name} ${change.kind === 'add' ? '+' : '-'} ?`)
    assigned.push(yield* bytesOfChange(column.type as CollectionType, change, types))
  }
  const conditions = key.map(({ name }) => `${quoteName(name)} = ?`)
  const appends = (column: Column) =>
    column.type.type === 'list' && elements.get(column)?.kind === 'add'
  return {
    text:
      `UPDATE ${preparedTarget(table)} SET ${assignments.join(', ')} ` +
      `WHERE ${conditions.join(' AND ')}${typesMark(changed, table)}`,
    values: [...assigned, ...key.map((column) => bindKey(column, row, types))],
    isIdempotent: !changed.some(appends),
  }
}

function bindKey(column: Column, values: Values, types: UserTypes): unknown {
  return bindValue(column, withoutSign(values.get(column)!), types)
}

/** Encodes added elements or entries, or removed elements or keys. */
function bytesOfChange(
  type: CollectionType,
  { kind, elements }: ElementChange,
  types: UserTypes,
): Steps<Buffer> {
  if (type.type === 'map')
    return kind === 'add'
      ? bytesOfEntries(type, elements as readonly [Value, Value][], types)
      : bytesOfElements(type.keyType, elements, types)
  // Cassandra removes list elements with the same bytes, so all encodings of each element are sent.
  if (type.type === 'list' && kind === 'remove')
    return bytesOfSpellings(type.valueType, elements, types)
  return bytesOfElements(type.valueType, elements, types)
}

/** Columns in the order of the table, so that equal changes produce the same statement text. */
function inOrder({ definition }: Table, columns: Iterable<Column>): readonly Column[] {
  const positions = new Map(
    definition.columns.map(({ name }, position) => [name, position]),
  )
  const positionOf = ({ name }: Column) => positions.get(name)!
  return [...columns].toSorted((a, b) => positionOf(a) - positionOf(b))
}
