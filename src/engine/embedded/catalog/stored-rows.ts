/** Decodes the definitions in rows of the catalog. */
import type { DatabaseSync } from 'node:sqlite'
import type { CollectionOptions } from '../../schema.ts'
import {
  suffixOf,
  type StoredDefinition,
  type StoredType,
} from '../schema/stored-schema.ts'

export interface TargetRow {
  readonly uid: string
  readonly keyspace: string
  readonly name: string
  readonly folder: string
  readonly kind: 'collection' | 'table'
  readonly state: 'creating' | 'ready' | 'dropping'
  readonly options: string
  readonly version: number
}

export function typeIn(row: Record<string, unknown>): StoredType {
  return JSON.parse(String(row['definition'])) as StoredType
}

export function optionsIn({ options }: TargetRow): CollectionOptions {
  return JSON.parse(options) as CollectionOptions
}

export function definitionIn({ options }: TargetRow): StoredDefinition {
  const definition = JSON.parse(options) as StoredDefinition
  // `suffixOf` throws when an id is not valid: ids become parts of table and folder names.
  for (const { id } of [...definition.columns, ...definition.indexes]) suffixOf(id)
  return definition
}

/**
 * Throws if a definition cannot be decoded. A server cannot start with such a catalog, even if the
 * operator accepts that changes are lost: it has to be rebuilt.
 */
export function refuseUnreadableRows(database: DatabaseSync): void {
  for (const row of typeRows(database)) {
    if (row['parent'] === null) throw new Error('a type belongs to an unknown keyspace')
    typeIn(row)
  }
  const ready = database.prepare("SELECT * FROM target WHERE state = 'ready'").all()
  for (const row of ready as unknown as TargetRow[])
    if (row.kind === 'table') definitionIn(row)
    else optionsIn(row)
}

/**
 * User-defined types; formats before 3 have none. `parent`: the keyspace of the type, null if the
 * catalog does not list it.
 */
export function typeRows(database: DatabaseSync): Record<string, unknown>[] {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'type'").get()
  if (table === undefined) return []
  const sql =
    'SELECT type.*, keyspace.name AS parent ' +
    'FROM type LEFT JOIN keyspace ON keyspace.name = type.keyspace'
  return database.prepare(sql).all()
}
