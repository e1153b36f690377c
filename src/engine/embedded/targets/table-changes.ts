/** The steps that change a store when its table's definition changes. */
import { columnPath } from '../schema/column-path.ts'
import type { IndexStep } from '../write/reindex.ts'
import { suffixOf, type StoredIndex, type StoredTable } from '../schema/stored-schema.ts'

export interface TableChanges {
  /** Steps before the new definition takes effect; writes use the new definition already. */
  readonly before: readonly IndexStep[]
  /**
   * Steps after the new definition has taken effect: reads no longer use the tables and entries
   * that these steps remove.
   */
  readonly after: readonly IndexStep[]
  /** Suffixes of columns with new and with removed vector indexes. */
  readonly opened: readonly string[]
  readonly closed: readonly string[]
}

export function changesOf(from: StoredTable, to: StoredTable): TableChanges {
  const added = without(to.definition.indexes, from.definition.indexes)
  const removed = without(from.definition.indexes, to.definition.indexes)
  const newVectors = without(vectorColumns(to), vectorColumns(from))
  const oldVectors = without(vectorColumns(from), vectorColumns(to))
  return {
    before: [
      ...newVectors.map(
        ({ id }) => ({ kind: 'createVectors', suffix: suffixOf(id) }) as const,
      ),
      ...added.flatMap((index) => stepsToAdd(index, to)),
    ],
    after: [
      ...removed.flatMap((index) => stepsToRemove(index, from)),
      ...oldVectors.map(
        ({ id }) => ({ kind: 'dropVectors', suffix: suffixOf(id) }) as const,
      ),
    ],
    opened: vectorSuffixesOf(added, to),
    closed: vectorSuffixesOf(removed, from),
  }
}

function stepsToAdd(index: StoredIndex, table: StoredTable): IndexStep[] {
  const column = columnOf(index, table)
  switch (index.kind) {
    case 'regular': {
      const path = columnPath(column.id, index.part, index.folding !== undefined).text
      return [
        { kind: 'clearEntries', path },
        { kind: 'fillEntries', table, path, after: 0 },
      ]
    }
    case 'vector':
      return [{ kind: 'createFeed', suffix: suffixOf(column.id) }]
    case 'text':
      return [
        { kind: 'createTerms', suffix: suffixOf(index.id) },
        { kind: 'fillTerms', table, path: columnPath(column.id).text, after: 0 },
      ]
  }
}

function stepsToRemove(index: StoredIndex, table: StoredTable): IndexStep[] {
  const column = columnOf(index, table)
  switch (index.kind) {
    case 'regular': {
      const path = columnPath(column.id, index.part, index.folding !== undefined).text
      return [{ kind: 'clearEntries', path }]
    }
    case 'vector':
      return [{ kind: 'dropFeed', suffix: suffixOf(column.id) }]
    case 'text':
      return [{ kind: 'dropTerms', suffix: suffixOf(index.id) }]
  }
}

function columnOf({ column }: StoredIndex, { definition }: StoredTable) {
  return definition.columns.find(({ name }) => name === column)!
}

function vectorColumns({ definition }: StoredTable) {
  return definition.columns.filter(({ type }) => type.type === 'vector')
}

function vectorSuffixesOf(indexes: readonly StoredIndex[], table: StoredTable): string[] {
  return indexes
    .filter(({ kind }) => kind === 'vector')
    .map((index) => suffixOf(columnOf(index, table).id))
}

/** Items of `these` that `others` lacks, compared by id. */
function without<T extends { readonly id: number }>(
  these: readonly T[],
  others: readonly T[],
): T[] {
  const ids = new Set(others.map(({ id }) => id))
  return these.filter(({ id }) => !ids.has(id))
}
