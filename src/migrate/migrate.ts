/**
 * Copies all data from one engine to another, through the engine contract alone.
 *
 * A migration detects everything that cannot be copied before the first write. Then it creates the
 * definitions, copies the records, and writes the settings last, so that a server that is started
 * too early has no tokens and cannot serve incomplete data. Each step first checks what exists, so
 * an interrupted migration can be repeated and continues where it stopped. At the end, it compares
 * source and destination.
 */
import type { Engine } from '../engine/contract.ts'
import type { KeyspaceSchema, Target } from '../engine/schema.ts'
import { EngineError } from '../engine/errors.ts'
import { areSame, type ChecksumTotal } from './checksum.ts'
import { copyRecords, checksumOf, type CopyReport } from './copy-records.ts'
import { documentSet } from './document-set.ts'
import { missingIn } from './missing-schema.ts'
import { moveSettings, otherSettings } from './move-settings.ts'
import type { RecordSet } from './record-set.ts'
import { rowSet } from './row-set.ts'

/** Receives the progress of a migration. */
export interface MigrationListener {
  /**
   * Called when copying starts, with an estimated number of records. Returns a function that is
   * called with the number of records processed so far.
   */
  copying(target: NamedTarget, estimate: number): (count: number) => void
  copied(target: NamedTarget, copied: CopyReport): void
  verifying(target: NamedTarget): void
}

export interface NamedTarget extends Pick<RecordSet<unknown>, 'noun'> {
  /**
   * "keyspace.name", with the name of the keyspace in the engine, which may have the key of a
   * database as prefix.
   */
  readonly name: string
}

export type Migration =
  /** The result of a migration. If it has obstacles, nothing was written. */
  { readonly obstacles: readonly string[] } | Migrated

export interface Migrated {
  readonly targets: readonly MigratedTarget[]
  /** Names of the settings that were written. */
  readonly settings: readonly string[]
  readonly isSame: boolean
}

export interface MigratedTarget extends NamedTarget, CopyReport {
  /** Count and checksum of the destination's records after the migration. */
  readonly target: ChecksumTotal
  readonly isSame: boolean
}

interface Keyspace {
  readonly name: string
  readonly schema: KeyspaceSchema
}

export async function migrate(
  from: Engine,
  to: Engine,
  listener: MigrationListener,
): Promise<Migration> {
  const keyspaces = await readKeyspaces(from)
  const obstacles = await findObstacles(keyspaces, from, to)
  if (obstacles.length > 0) return { obstacles }
  for (const keyspace of keyspaces) await define(to, keyspace)
  const copies: (() => Promise<MigratedTarget>)[] = []
  for (const { name, schema } of keyspaces)
    for (const target of schema.targets)
      copies.push(await copy(from, to, name, target, listener))
  const settings = await moveSettings(from, to)
  const targets: MigratedTarget[] = []
  for (const verify of copies) targets.push(await verify())
  return { targets, settings, isSame: targets.every(({ isSame }) => isSame) }
}

async function readKeyspaces(engine: Engine): Promise<readonly Keyspace[]> {
  const names = (await engine.listKeyspaces()).toSorted()
  const read = names.map(async (name): Promise<Keyspace> => {
    const schema = (await engine.readSchema(name))!
    const targets = schema.targets.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return { name, schema: { ...schema, targets } }
  })
  return Promise.all(read)
}

async function findObstacles(
  keyspaces: readonly Keyspace[],
  from: Engine,
  to: Engine,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const { name, schema } of keyspaces) {
    const unread = schema.unreadable ?? []
    found.push(...unread.map((one) => `${name}.${one.name}: ${one.reason.message}`))
    found.push(...(to.unsupportedFeatures?.(name, schema) ?? []))
    const { conflicts } = missingIn(await to.readSchema(name), schema)
    found.push(...conflicts.map((line) => `${name}: ${line} in the destination`))
  }
  const settings = await otherSettings(from, to)
  return [
    ...found,
    ...settings.map(
      (name) =>
        `the setting "${name}" already exists in the destination with another value`,
    ),
  ]
}

/** Applies one missing schema change at a time, until no change is missing. */
async function define(to: Engine, { name, schema }: Keyspace): Promise<void> {
  await to.createKeyspace(name)
  const isChanging = () =>
    to.changeSchema(name, (there) => missingIn(there, schema).changes[0])
  while (await isChanging());
}

/** Copies the records of a target. Returns a function that verifies the copy. */
async function copy(
  from: Engine,
  to: Engine,
  keyspace: string,
  target: Target,
  listener: MigrationListener,
): Promise<() => Promise<MigratedTarget>> {
  const there = await to.findTarget(keyspace, target.name)
  const name = `${keyspace}.${target.name}`
  if (target.kind === 'collection' && there?.kind === 'collection')
    return copySet(name, documentSet(from, target), documentSet(to, there), listener)
  if (target.kind === 'table' && there?.kind === 'table')
    return copySet(name, rowSet(from, target), rowSet(to, there), listener)
  throw new EngineError('gone', `another client dropped ${name}. Stop it`)
}

async function copySet<R>(
  name: string,
  from: RecordSet<R>,
  to: RecordSet<R>,
  listener: MigrationListener,
): Promise<() => Promise<MigratedTarget>> {
  const { noun } = from
  const progress = listener.copying({ name, noun }, await from.estimate())
  const copied = await copyRecords(from, to, progress)
  listener.copied({ name, noun }, copied)
  return async () => {
    listener.verifying({ name, noun })
    const target = await checksumOf(to)
    return { name, noun, ...copied, target, isSame: areSame(copied.source, target) }
  }
}
