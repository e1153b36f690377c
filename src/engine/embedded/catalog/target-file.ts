/**
 * `target.json` in the folder of each collection or table: a copy of its row in the catalog, so
 * that a lost catalog can be rebuilt from the folders.
 *
 * The catalog is authoritative. The file is written after the catalog, so a crash can leave the
 * file one change behind. The next start updates the file.
 */
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { readSealed, writeSealed, type Sealed } from '../store/sealed-json.ts'
import type { StoredTarget, StoredType } from '../schema/stored-schema.ts'

export const targetFile = 'target.json'

export interface TargetDescription {
  /** The catalog's generation when this file was written. */
  readonly generation: number
  readonly uid: string
  readonly keyspace: string
  readonly name: string
  readonly kind: StoredTarget['kind']
  /** A dropped target is never served again, even if the catalog is lost. */
  readonly state: 'ready' | 'dropping'
  /** The options of a collection, or the definition of a table. */
  readonly definition: object
  /** The user-defined types that a table's columns name. */
  readonly types: readonly StoredType[]
}

export function describeTarget(
  target: StoredTarget,
  generation: number,
  state: TargetDescription['state'] = 'ready',
): TargetDescription {
  const { uid, keyspace, name, kind } = target
  const isTable = target.kind === 'table'
  return {
    ...{ generation, uid, keyspace, name, kind, state },
    definition: isTable ? target.definition : target.options,
    types: isTable ? target.types : [],
  }
}

/** Reads the description in a target's folder. */
export function readTargetFile(folder: string): Sealed<TargetDescription> {
  return readSealed(join(folder, targetFile))
}

export function writeTargetFile(
  folder: string,
  description: TargetDescription,
): Promise<void> {
  return writeSealed(join(folder, targetFile), description)
}

/** Whether the file in the folder has this description, apart from the generation. */
export function isDescribed(folder: string, description: TargetDescription): boolean {
  const found = readTargetFile(folder)
  const { generation } = description
  return (
    typeof found === 'object' &&
    isDeepStrictEqual({ ...found.content, generation }, plain(description))
  )
}

/** The description as read back from JSON, which omits undefined fields. */
function plain(description: TargetDescription): unknown {
  return JSON.parse(JSON.stringify(description))
}
