/** The targets of a data folder, for commands that read it while no server runs. */
import { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import type { RecordView } from '../../record-view.ts'
import { viewOf } from '../format/views.ts'
import { readFolders } from '../store/folder-names.ts'
import { typeIn, typeRows } from './stored-rows.ts'
import type { StoredTarget, StoredType } from '../schema/stored-schema.ts'

export interface ReadyTarget {
  readonly keyspace: string
  readonly name: string
  readonly folder: string
  readonly view: RecordView
  /**
   * The version of the target's store that the catalog recorded; 0 in formats that do not record
   * it.
   */
  readonly version: number
}

/**
 * The targets of a catalog, except targets that are being created or dropped: the next start
 * removes them.
 */
export function readyTargets(file: string, dataDir: string): ReadyTarget[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  try {
    return readyTargetsIn(database, file)
  } catch (error) {
    if (error instanceof Error && error.message.includes('locked'))
      throw new EngineError(
        'closed',
        `${dataDir} is in use by a running server; stop it first`,
      )
    throw error
  } finally {
    database.close()
  }
}

/** `readyTargets` for an open catalog. */
export function readyTargetsIn(database: DatabaseSync, file: string): ReadyTarget[] {
  const types = typesIn(database)
  const folders = readFolders(database, file)
  return database
    .prepare("SELECT * FROM target WHERE state = 'ready'")
    .all()
    .map(({ uid, kind, keyspace, name, options, version }) => ({
      keyspace: String(keyspace),
      name: String(name),
      folder: folders.targets.get(String(uid))!,
      version: Number(version ?? 0),
      view: viewOf({
        uid,
        kind,
        keyspace,
        name,
        [kind === 'table' ? 'definition' : 'options']: JSON.parse(
          String(options),
        ) as unknown,
        types: types.get(String(keyspace)) ?? [],
      } as unknown as StoredTarget),
    }))
}

/** User-defined types by keyspace. */
function typesIn(database: DatabaseSync): Map<string, StoredType[]> {
  const types = new Map<string, StoredType[]>()
  for (const row of typeRows(database)) {
    const keyspace = String(row['keyspace'])
    types.set(keyspace, [...(types.get(keyspace) ?? []), typeIn(row)])
  }
  return types
}
