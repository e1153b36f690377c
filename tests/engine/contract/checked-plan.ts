/**
 * Asserts what the contract requires of schema plans: they must be pure, and their changes must use
 * valid names.
 */
import assert from 'node:assert/strict'
import {
  namedTypes,
  type KeyspaceSchema,
  type Table,
  type Target,
} from '../../../src/engine/schema.ts'
import type {
  SchemaChange,
  SchemaPlan,
  TableChange,
} from '../../../src/engine/schema-change.ts'

export function checkedPlan(plan: SchemaPlan): SchemaPlan {
  return (schema, counts) => {
    const ask = () => {
      try {
        return { change: plan(schema, counts) }
      } catch (error) {
        return { error }
      }
    }
    const said = ask()
    const again = ask()
    assert.deepEqual(again.change, said.change, 'changeSchema: a plan changed its mind')
    assert.equal(
      String(again.error),
      String(said.error),
      'changeSchema: a plan threw another error on its second call',
    )
    if ('error' in said) throw said.error
    const { change } = said
    if (change !== undefined)
      assert.deepEqual(wrongNames(change, schema), [], `${change.kind}: wrong names`)
    return change
  }
}

/**
 * The invalid names in a change: new names that are taken, and names of schema objects that do not
 * exist or do not allow the change.
 */
function wrongNames(change: SchemaChange, schema: KeyspaceSchema): readonly string[] {
  const { targets, unreadable = [] } = schema
  const types = namedTypes(schema)
  switch (change.kind) {
    case 'createCollection': {
      const isWhole = (one: Target) => one.kind === 'table' || !one.isIncomplete
      return taken([...targets.filter(isWhole), ...unreadable], [change.name])
    }
    case 'createTable':
      return taken([...targets, ...unreadable], [change.name])
    case 'dropTarget':
      return missing([...targets, ...unreadable], [change.name])
    case 'createType':
      return taken(types, [change.name])
    case 'alterType':
      return missing(schema.types, [change.name])
    case 'dropType':
      return missing(types, [change.name])
    default: {
      const tables = targets.filter((target) => target.kind === 'table')
      const table = tables.find(({ name }) => name === change.table)
      return table === undefined ? [change.table] : wrongNamesIn(table, change, tables)
    }
  }
}

function wrongNamesIn(
  { definition }: Table,
  change: TableChange,
  tables: readonly Table[],
): readonly string[] {
  const { columns, partitionBy, partitionSort, indexes, unsupported } = definition
  const others = unsupported ?? { columns: [], indexes: [] }
  switch (change.kind) {
    case 'addColumns':
      return taken([...columns, ...others.columns], namesOf(change.columns))
    case 'dropColumns': {
      const used = [...partitionSort, ...indexes].map(({ column }) => column)
      const kept = new Set([...partitionBy, ...used])
      const all = [...columns, ...others.columns]
      return missing(
        all.filter(({ name }) => !kept.has(name)),
        change.names,
      )
    }
    case 'putServices': {
      const vectors = columns.filter(({ type }) => type.type === 'vector')
      return missing(vectors, [...change.services.keys()])
    }
    case 'createIndex': {
      const all = tables.flatMap((table) => table.definition.indexes)
      const { name, column } = change.index
      return [...taken(all, [name]), ...missing(columns, [column])]
    }
    case 'dropIndex':
      return missing([...indexes, ...others.indexes], [change.name])
  }
}

type Named = readonly { readonly name: string }[]

function taken(things: Named, names: readonly string[]): string[] {
  const there = new Set(namesOf(things))
  return names.filter((name) => there.has(name))
}

function missing(things: Named, names: readonly string[]): string[] {
  const there = new Set(namesOf(things))
  return names.filter((name) => !there.has(name))
}

function namesOf(things: Named): string[] {
  return things.map(({ name }) => name)
}
