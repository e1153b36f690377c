/**
 * `catalog.generation`: a mirror of the catalog's generation and of the rows that exist only in the
 * catalog (keyspaces, types, settings). Targets describe themselves (target-file.ts), so the mirror
 * and these descriptions are enough to rebuild a catalog.
 *
 * The file is written after each change of the catalog is durable, so its generation never exceeds
 * the catalog's generation, unless the catalog has lost changes.
 */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { readSealed, writeSealed, type Sealed } from '../store/sealed-json.ts'

export const mirrorFile = 'catalog.generation'

export interface CatalogMirror {
  readonly generation: number
  /** Rows of the catalog's tables, by table name. */
  readonly keyspace: readonly KeyspaceRow[]
  readonly type: readonly StoredTypeRow[]
  readonly setting: readonly SettingRow[]
}

export interface KeyspaceRow {
  readonly name: string
  readonly folder: string
}

export interface StoredTypeRow {
  readonly keyspace: string
  readonly name: string
  readonly definition: string
}

export interface SettingRow {
  readonly name: string
  readonly value: string
}

export async function writeMirror(
  dataDir: string,
  generation: number,
  database: DatabaseSync,
): Promise<void> {
  const rowsOf = (table: string) => database.prepare(`SELECT * FROM ${table}`).all()
  await writeSealed(join(dataDir, mirrorFile), {
    generation,
    keyspace: rowsOf('keyspace'),
    type: rowsOf('type'),
    setting: rowsOf('setting'),
  })
}

export function readMirror(dataDir: string): Sealed<CatalogMirror> {
  return readSealed(join(dataDir, mirrorFile))
}
