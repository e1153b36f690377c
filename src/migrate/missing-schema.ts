/**
 * Compares the schemas of a keyspace at source and destination. Returns definitions that are
 * missing at the destination, and conflicting definitions.
 */
import { isDeepStrictEqual } from 'node:util'
import type { UserType } from '../language/columns/column-type.ts'
import {
  columnsInOrder,
  findNamed,
  type Collection,
  type Column,
  type KeyspaceSchema,
  type Table,
  type TableIndex,
} from '../engine/schema.ts'
import type { SchemaChange } from '../engine/schema-change.ts'

export interface Missing {
  /** The changes, in an order in which each change depends only on earlier ones. */
  readonly changes: readonly SchemaChange[]
  /** One line for each definition that differs from the definition with the same name. */
  readonly conflicts: readonly string[]
}

const nothing: Missing = { changes: [], conflicts: [] }

export function missingIn(
  there: KeyspaceSchema | undefined,
  wanted: KeyspaceSchema,
): Missing {
  const all = [
    ...wanted.types.map((type) => missingType(there, type)),
    ...wanted.targets.map((target) => {
      const found = there && findNamed(there, target.name)
      if (found !== undefined && 'reason' in found)
        return conflict(`${target.name} cannot be read`)
      if (found !== undefined && found.kind !== target.kind)
        return conflict(`${target.name} is a ${found.kind}`)
      return target.kind === 'collection'
        ? missingCollection(found as Collection | undefined, target)
        : missingTable(found as Table | undefined, target)
    }),
  ]
  return {
    changes: all.flatMap(({ changes }) => changes),
    conflicts: all.flatMap(({ conflicts }) => conflicts),
  }
}

function conflict(line: string): Missing {
  return { changes: [], conflicts: [line] }
}

function missingType(there: KeyspaceSchema | undefined, type: UserType): Missing {
  const { name } = type
  const fields = type.fields.map(({ name, type }) => ({ name, type }))
  const found = there?.types.find((candidate) => candidate.name === name)
  if (found === undefined)
    return { changes: [{ kind: 'createType', name, fields }], conflicts: [] }
  const same = found.fields.map(({ name, type }) => ({ name, type }))
  return isDeepStrictEqual(same, fields)
    ? nothing
    : conflict(`type ${name} has other fields`)
}

function missingCollection(
  there: Collection | undefined,
  { name, options }: Collection,
): Missing {
  if (there === undefined)
    return { changes: [{ kind: 'createCollection', name, options }], conflicts: [] }
  return isDeepStrictEqual(asJson(there.options), asJson(options))
    ? nothing
    : conflict(`collection ${name} has other options`)
}

/** Options as JSON. Removes undefined members, so that they compare equal to absent members. */
function asJson(options: object): unknown {
  return JSON.parse(JSON.stringify(options))
}

function missingTable(there: Table | undefined, table: Table): Missing {
  const { name, definition } = table
  const { partitionBy, partitionSort } = definition
  const columns = columnsOf(table)
  const creation: SchemaChange[] =
    there === undefined
      ? [{ kind: 'createTable', name, columns, partitionBy, partitionSort }]
      : []
  if (there !== undefined && !isDeepStrictEqual(shapeOf(there), shapeOf(table)))
    return conflict(`table ${name} has other columns or another key`)
  const known = there?.definition.indexes ?? []
  const indexes = definition.indexes.map((index) => {
    const found = known.find((candidate) => candidate.name === index.name)
    if (found === undefined)
      return {
        changes: [{ kind: 'createIndex', table: name, index: plainIndex(index) } as const],
        conflicts: [],
      }
    return isDeepStrictEqual(asJson(plainIndex(found)), asJson(plainIndex(index)))
      ? nothing
      : conflict(`the index ${index.name} of table ${name} has another definition`)
  })
  return {
    changes: [...creation, ...indexes.flatMap(({ changes }) => changes)],
    conflicts: indexes.flatMap(({ conflicts }) => conflicts),
  }
}

/** Columns without engine-specific properties, such as names in the store. */
function columnsOf({ definition }: Table): readonly Column[] {
  return columnsInOrder<Column>(definition).map(({ name, type }) => ({ name, type }))
}

function shapeOf(table: Table): unknown {
  const { partitionBy, partitionSort } = table.definition
  return asJson({ columns: columnsOf(table), partitionBy, partitionSort })
}

function plainIndex(index: TableIndex): TableIndex {
  const { name, column } = index
  switch (index.kind) {
    case 'regular': {
      const { kind, part, folding } = index
      const isPlain =
        folding !== undefined &&
        folding.caseSensitive &&
        !folding.ascii &&
        !folding.normalize
      return { name, column, kind, part, ...(folding && !isPlain && { folding }) }
    }
    case 'vector': {
      const { kind, metric, sourceModel } = index
      return { name, column, kind, metric, sourceModel }
    }
    case 'text':
      return { name, column, kind: index.kind, analyzer: index.analyzer }
  }
}
