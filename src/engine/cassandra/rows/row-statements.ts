/** Statements that read and delete the rows of a table. */
import { createHash } from 'node:crypto'
import type { ColumnValue } from '../../../language/columns/column.ts'
import { userTypeNameOf } from '../../../language/columns/column-type.ts'
import type { KeyConditions } from '../../../language/columns/key-conditions.ts'
import type { Steps } from '../../../runtime/steps.ts'
import { keyColumns, keyNames, type Column, type Table } from '../../schema.ts'
import { quoteName, preparedTarget, type Statement } from '../cluster/statement.ts'
import { bytesOfVector, readValue } from '../cql/cql-values.ts'
import type { RowBranch } from './row-branch.ts'
import { equality, isEmptyKey, range, spellings } from './row-terms.ts'

export interface RowSelect {
  /** Result of `selectedColumns`. */
  readonly columns: readonly Column[]
  readonly branch: Pick<RowBranch, 'terms' | 'allowFiltering'>
  readonly limit?: number
  /** 1: rows of a partition in storage order; -1: in reverse. */
  readonly direction?: 1 | -1
  /** Whether to select partition tokens, which determine the order of partitions. */
  readonly withToken?: boolean
}

/** The columns of the key, followed by `others`, without duplicates. */
export function selectedColumns(
  { definition }: Table,
  others: Iterable<Column>,
): readonly Column[] {
  const byName = new Map(definition.columns.map((column) => [column.name, column]))
  const names = [...keyColumns(definition), ...others].map(({ name }) => name)
  return [...new Set(names)].map((name) => byName.get(name)!)
}

export function selectRows(table: Table, select: RowSelect): Statement {
  const { columns, branch, limit, direction = 1, withToken = false } = select
  const { partitionBy, partitionSort } = table.definition
  const token = `token(${partitionBy.map(quoteName).join(', ')}) AS ${tokenAlias}`
  const backwards = partitionSort.map(
    ({ column, direction: declared }) =>
      `${quoteName(column)} ${declared === 1 ? 'DESC' : 'ASC'}`,
  )
  return joined(
    selection(table, columns, withToken ? [token] : []),
    where(branch.terms),
    direction === 1 ? nothing : { text: `ORDER BY ${backwards.join(', ')}`, values: [] },
    limit === undefined ? nothing : { text: 'LIMIT ?', values: [limit] },
    branch.allowFiltering ? { text: 'ALLOW FILTERING', values: [] } : nothing,
  )
}

export interface NearestSelect extends Pick<RowSelect, 'columns' | 'branch'> {
  readonly column: Column
  readonly numbers: Float32Array
  readonly limit: number
}

/**
 * Statement that selects the nearest rows, nearest first. Similarities are computed from the
 * selected vectors.
 */
export function selectNearest(table: Table, select: NearestSelect): Statement {
  const { columns, branch, column, numbers, limit } = select
  return joined(selection(table, columns), where(branch.terms), {
    text: `ORDER BY ${quoteName(column.name)} ANN OF ? LIMIT ?`,
    values: [bytesOfVector(numbers), limit],
  })
}

export interface BestMatchSelect extends Pick<RowSelect, 'columns' | 'branch'> {
  readonly column: Column
  readonly text: string
  readonly limit: number
}

/**
 * Statement that selects the rows that have all terms of the text, best first; clusters do not
 * return scores.
 */
export function selectBestMatches(table: Table, select: BestMatchSelect): Statement {
  const { columns, branch, column, text, limit } = select
  return joined(selection(table, columns), where(branch.terms), {
    text: `ORDER BY ${quoteName(column.name)} BM25 OF ? LIMIT ?`,
    values: [text, limit],
  })
}

export interface SelectedRow {
  /** Values by column name; null values are absent. */
  readonly values: ReadonlyMap<string, ColumnValue>
  readonly token: bigint | undefined
}

/** Reads a selected row; undefined: the partition has static values but no rows. */
export function* readRow(
  { definition, types }: Table,
  columns: readonly Column[],
  row: Readonly<Record<string, unknown>>,
): Steps<SelectedRow | undefined> {
  const values = new Map<string, ColumnValue>()
  for (const [position, column] of columns.entries()) {
    const value = yield* readValue(column, row[aliasAt(position)], types)
    if (value !== undefined) values.set(column.name, value)
  }
  if (definition.partitionSort.some(({ column }) => !values.has(column))) return undefined
  return {
    values,
    token: row[tokenName] as bigint | undefined,
  }
}

/**
 * Statements that delete the rows that satisfy the conditions. An empty list: no row can satisfy
 * the conditions. Undefined: the cluster orders the texts differently, so rows must be read and
 * deleted one by one.
 */
export function deleteRows(
  table: Table,
  conditions: KeyConditions,
): readonly Statement[] | undefined {
  const terms: Statement[] = []
  const { partitionBy } = table.definition
  for (const name of keyNames(table.definition)) {
    const condition = conditions.get(name)
    if (condition === undefined) break
    const column = table.definition.columns.find((candidate) => candidate.name === name)!
    const spelled = condition.eq
      ?.flatMap((value) => spellings(column, value))
      .filter(
        (value) => !(partitionBy.includes(name) && isEmptyKey(value, partitionBy.length)),
      )
    if (spelled?.length === 0) return []
    const said = spelled
      ? [equality(column, spelled, { table })]
      : range(column, condition, { table })
    if (said === undefined) return undefined
    terms.push(...said)
  }
  return [
    joined({ text: `DELETE FROM ${preparedTarget(table)}`, values: [] }, where(terms)),
  ]
}

/**
 * A digest of the user-defined types of the columns, for the text of a statement. A prepared
 * statement keeps the types that existed when it was prepared. After a change of a type, the digest
 * makes the text differ, so the statement is prepared again.
 */
export function typesMark(
  columns: Iterable<Column>,
  { types }: Pick<Table, 'types'>,
): string {
  const names = new Set(Array.from(columns, ({ type }) => userTypeNameOf(type)))
  const used = types.filter(({ name }) => names.has(name))
  if (used.length === 0) return ''
  const digest = createHash('sha256').update(JSON.stringify(used)).digest('hex')
  return ` /* ${digest.slice(0, 16)} */`
}

/**
 * Alias of a selected column. The name of a column might clash with a property of the driver's
 * rows.
 */
const aliasAt = (position: number) => `#${position}`
const tokenName = '#token'
const tokenAlias = quoteName(tokenName)

function selection(
  table: Table,
  columns: readonly Column[],
  more: readonly string[] = [],
): Statement {
  const selected = columns.map(
    (column, position) => `${selector(column)} AS ${quoteName(aliasAt(position))}`,
  )
  const all = [...selected, ...more].join(', ')
  return {
    text: `SELECT ${all} FROM ${preparedTarget(table)}${typesMark(columns, table)}`,
    values: [],
  }
}

/**
 * Selects a column. The driver decodes timestamps as Date, whose range is smaller than Cassandra's,
 * so they are selected as numbers.
 */
function selector({ name, type }: Column): string {
  return type.type === 'timestamp' ? `toUnixTimestamp(${quoteName(name)})` : quoteName(name)
}

const nothing: Statement = { text: '', values: [] }

function where(terms: readonly Statement[]): Statement {
  if (terms.length === 0) return nothing
  return {
    text: `WHERE ${terms.map(({ text }) => text).join(' AND ')}`,
    values: terms.flatMap(({ values }) => values),
  }
}

function joined(...parts: readonly Statement[]): Statement {
  return {
    text: parts.flatMap(({ text }) => (text === '' ? [] : [text])).join(' '),
    values: parts.flatMap(({ values }) => values),
  }
}
