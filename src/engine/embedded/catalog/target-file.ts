/**
 * `target.json` in the folder of each collection or table: what the catalog says of it, so that
 * a store describes itself and a lost catalog can be rebuilt from the folders.
 *
 * The catalog is the truth. The file is written after it, so it may be behind by the change that
 * a crash interrupted; a start brings it up to date.
 */
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { readSealed, writeSealed, type Sealed } from '../store/sealed-json.ts'
import type { StoredTarget, StoredType } from '../schema/stored-schema.ts'

export const targetFile = 'target.json'

export interface TargetDescription {
  /** The catalog's generation when this was written. */
  readonly generation: number
  readonly uid: string
  readonly keyspace: string
  readonly name: string
  readonly kind: StoredTarget['kind']
  /** A dropped target is not served again, whatever becomes of the catalog. */
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

/** `folder` is that of the target. */
export function readTargetFile(folder: string): Sealed<TargetDescription> {
  return readSealed(join(folder, targetFile))
}

export function writeTargetFile(
  folder: string,
  description: TargetDescription,
): Promise<void> {
  return writeSealed(join(folder, targetFile), description)
}

/** Whether the file says the same already. The generation makes no difference. */
export function isDescribed(folder: string, description: TargetDescription): boolean {
  const found = readTargetFile(folder)
  const { generation } = description
  return (
    typeof found === 'object' &&
    isDeepStrictEqual({ ...found.content, generation }, plain(description))
  )
}

/** As it comes back from JSON, which leaves out what is undefined. */
function plain(description: TargetDescription): unknown {
  return JSON.parse(JSON.stringify(description))
}
