/** A collection or table with its size from the management API. */
export interface SizeRow {
  readonly database: string
  readonly databaseName: string
  readonly keyspace: string
  readonly name: string
  readonly kind: string
  readonly documents?: number
  readonly bytes?: number
  readonly vectors?: { readonly count: number; readonly memoryBytes: number }
}

export type SizeColumn =
  | 'name'
  | 'keyspace'
  | 'databaseName'
  | 'kind'
  | 'documents'
  | 'bytes'
  | 'vectors'
  | 'vectorMemory'

/** Sorts rows by a column. Unknown sizes come last in both directions. */
export function sortSizes(
  rows: readonly SizeRow[],
  column: SizeColumn,
  direction: 1 | -1,
): readonly SizeRow[] {
  return rows.toSorted((one, other) => {
    const [left, right] = [valueOf(one, column), valueOf(other, column)]
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined)
    const order =
      typeof left === 'number' ? left - (right as number) : compare(left, String(right))
    return order * direction || compare(one.name, other.name)
  })
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}

function valueOf(row: SizeRow, column: SizeColumn): string | number | undefined {
  switch (column) {
    case 'vectors':
      return row.vectors?.count
    case 'vectorMemory':
      return row.vectors?.memoryBytes
    default:
      return row[column]
  }
}
