/**
 * SQL objects of a database file that this program does not create. A store may come from a
 * manipulated backup: a trigger, a view or an expression in its schema would run with our
 * statements and change their effect.
 */
import type { DatabaseSync } from 'node:sqlite'

/** The tables that a kind of file may have. */
export interface OwnTables {
  readonly names: ReadonlySet<string>
  /** Names of tables that exist per column or index, without their suffix "_" and number. */
  readonly families: ReadonlySet<string>
}

/**
 * The tables of a file, from the SQL that creates them: `schema` once, and `families` per column or
 * index, written for the suffix "_0".
 */
export function ownTables(schema: string, families = ''): OwnTables {
  return {
    names: new Set(tablesIn(schema)),
    families: new Set(tablesIn(families).map((name) => name.slice(0, -'_0'.length))),
  }
}

function tablesIn(schema: string): string[] {
  const statements = schema.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)
  return Array.from(statements, ([, name]) => name!)
}

/** Describes the first foreign object; undefined for a file without foreign objects. */
export function findForeignObject(
  database: DatabaseSync,
  own: OwnTables,
): string | undefined {
  // SQLite creates indexes for constraints itself and stores no SQL for them.
  const statement = database.prepare(
    "SELECT type, name, sql FROM sqlite_schema WHERE type <> 'index' OR sql IS NOT NULL",
  )
  statement.setReturnArrays(true)
  for (const [type, name, sql] of statement.all() as unknown as SchemaRow[])
    if (type !== 'table' || !isOwn(name, own))
      return foreign(`the ${type} ${JSON.stringify(name)}`)
    else if (!isPlain(sql))
      return foreign(`an expression in the table ${JSON.stringify(name)}`)
  return undefined
}

function foreign(object: string): string {
  return `${object}, which Stela did not create`
}

type SchemaRow = readonly [type: string, name: string, sql: string | null]

function isOwn(name: string, { names, families }: OwnTables): boolean {
  const [family, number, ...more] = name.split('_')
  return (
    names.has(name) ||
    (families.has(family!) && /^\d+$/.test(number ?? '') && more.length === 0)
  )
}

/**
 * Whether a table calls no functions. Virtual tables, generated columns, constraints and defaults
 * can call functions.
 */
function isPlain(sql: string | null): boolean {
  const calls = /\b(?:AS|CHECK|GENERATED)\b|\bDEFAULT\s*\(/i
  return sql !== null && sql.startsWith('CREATE TABLE ') && !calls.test(sql)
}
