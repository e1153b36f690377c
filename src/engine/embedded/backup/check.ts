/**
 * Checks a data folder: the logs, pages, schemas and contents of the catalog and of every store,
 * and the snapshots of vector indexes. Nothing on disk changes (open-to-check.ts).
 *
 * To add a check, add it to one of the lists below.
 */
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import type { RecordView } from '../../record-view.ts'
import { catalogFile, catalogFormat } from '../catalog/catalog.ts'
import { catalogTables } from '../catalog/catalog-file.ts'
import { findCatalogLoss } from '../catalog/catalog-loss.ts'
import { catalogExisted } from '../catalog/data-folder.ts'
import { readFolders, refuseLinks } from '../store/folder-names.ts'
import { readyTargetsIn, type ReadyTarget } from '../catalog/ready-targets.ts'
import { isHeld, preventsCheck, checkMessage, problemOf } from '../files/disk-trouble.ts'
import { findForeignObject, type OwnTables } from '../files/foreign-objects.ts'
import { describeLogDamage } from '../files/write-ahead-log.ts'
import { checkFile, formatVersion, storeFile, storeTables } from '../store/layout.ts'
import { countUnverified, verifyChecksums } from './verify-checksums.ts'
import { findLostWrites, describeLostWrites } from '../store/version-file.ts'
import { messageOf } from '../../../errors/reason.ts'
import { loadSnapshot, snapshotFolder } from '../vectors/snapshot.ts'
import { checkContents } from './check-contents.ts'
import { openCatalogToCheck, openStoreToCheck } from './open-to-check.ts'
import { Collector, type Check, type Finding, type Findings } from './run-checks.ts'

/** Result for the catalog or for one target. */
export interface Checked extends Findings {
  /** "keyspace.target"; absent for the catalog. */
  readonly name?: string
  /** The database file, relative to the data folder. */
  readonly file: string
}

/** A database file that SQLite has not opened yet. */
interface ClosedFile {
  readonly file: string
  /** The latest format that this version can read. */
  readonly format: number
}

interface OpenCatalog {
  readonly dataDir: string
  readonly database: DatabaseSync
}

interface OpenStore {
  readonly file: string
  readonly database: DatabaseSync
  readonly view: RecordView
  /** The store version that the catalog recorded. */
  readonly knownVersion: number
}

/** Checks of a file's bytes, before SQLite opens it and recovers its log. */
const fileChecks: readonly Check<ClosedFile>[] = [
  { run: ({ file }) => checkLog(file) },
  { run: ({ file, format }) => checkHeader(file, format), isGate: true },
]

/**
 * Checks of the catalog's content, including whether other files prove that it has lost changes.
 */
const catalogChecks: readonly Check<OpenCatalog>[] = [
  { run: ({ database }) => checkSchema(database, catalogTables), isGate: true },
  { run: ({ database }) => checkPages(database) },
  { run: ({ database }) => checkReferences(database) },
  { run: checkLoss },
]

const storeChecks: readonly Check<OpenStore>[] = [
  { run: ({ database }) => checkSchema(database, storeTables), isGate: true },
  // Comparing the contents of damaged pages is pointless.
  { run: ({ database }) => checkPages(database), isGate: true },
  { run: ({ database }) => checkChecksums(database) },
  { run: ({ database, view }) => checkContents(database, view) },
  { run: checkVersion },
  { run: checkSnapshots },
]

/**
 * Checks the catalog of a data folder, then its stores one by one. Throws if the catalog cannot be
 * checked for a reason other than damage. No server can start during the check.
 */
export function* checkEverything(dataDir: string): Generator<Checked> {
  const file = join(dataDir, catalogFile)
  const isThere = findCatalog(dataDir, file)
  const collector = new Collector(file)
  if (!isThere) {
    const lost = `${file} is missing, but the folder contains data`
    yield { file: catalogFile, findings: [lost], notes: [] }
    return
  }
  using opened = collector.run(fileChecks, { file, format: catalogFormat })
    ? openCatalog(collector, dataDir, file)
    : undefined
  let targets: readonly ReadyTarget[] = []
  if (opened !== undefined) {
    const { database } = opened
    if (collector.run(catalogChecks, { dataDir, database }))
      collector.attempt(() => {
        targets = readyTargetsIn(database, file)
      })
  }
  const { obstacle, ...found } = collector.result
  if (obstacle !== undefined) throw new EngineError('read', obstacle)
  yield { file: catalogFile, ...found }
  for (const target of targets) yield checkTarget(dataDir, target)
}

/** Whether there is a catalog. Throws when there is no data folder. */
function findCatalog(dataDir: string, file: string): boolean {
  try {
    if (statSync(dataDir, { throwIfNoEntry: false }) === undefined)
      throw new EngineError(
        'read',
        `${dataDir} does not exist. Set --data to a data folder`,
      )
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return true
    if (catalogExisted(dataDir)) return false
  } catch (error) {
    const trouble = problemOf(error, file)
    if (trouble !== undefined && preventsCheck(trouble))
      throw new EngineError('read', checkMessage(trouble, dataDir), { cause: error })
    if (error instanceof EngineError) throw error
  }
  throw new EngineError(
    'read',
    `${dataDir} is not a data folder: it has no ${catalogFile}. Set --data to a data folder`,
  )
}

function openCatalog(collector: Collector, dataDir: string, file: string) {
  let opened: ReturnType<typeof openCatalogToCheck> | undefined
  collector.attempt(() => {
    try {
      opened = openCatalogToCheck(file)
    } catch (error) {
      if (!isHeld(error)) throw error
      throw new EngineError(
        'closed',
        `${dataDir} is in use by a running server; stop it first`,
      )
    }
  })
  return opened
}

function checkTarget(
  dataDir: string,
  { keyspace, name, folder, view, version }: ReadyTarget,
): Checked {
  const place = join(folder, storeFile)
  const file = join(dataDir, place)
  const collector = new Collector(file)
  const isReal = collector.run(
    [{ run: () => checkLinks(dataDir, folder), isGate: true }],
    file,
  )
  if (isReal) runStoreChecks(collector, file, view, version)
  return { name: `${keyspace}.${name}`, file: place, ...collector.result }
}

/** Checks the store of one target, which may be in use: the check reads one snapshot. */
export function checkStore(file: string, view: RecordView): readonly string[] {
  const collector = new Collector(file)
  runStoreChecks(collector, file, view, 0)
  const { findings, obstacle } = collector.result
  if (obstacle !== undefined) throw new EngineError('read', obstacle)
  return findings
}

function runStoreChecks(
  collector: Collector,
  file: string,
  view: RecordView,
  knownVersion: number,
): void {
  if (!collector.run(fileChecks, { file, format: formatVersion })) return
  collector.attempt(() => {
    using opened = openStoreToCheck(file)
    const { database } = opened
    collector.run(storeChecks, { file, view, knownVersion, database })
  })
}

function* checkLinks(dataDir: string, folder: string): Generator<Finding> {
  refuseLinks(dataDir, folder)
}

function* checkHeader(file: string, format: number): Generator<Finding> {
  checkFile(file, format)
}

/**
 * Reports damage of a log. SQLite silently discards the part of a log after the first invalid
 * frame.
 */
function* checkLog(file: string): Generator<Finding> {
  const damage = describeLogDamage(file)
  if (damage !== undefined)
    yield `${damage}. Copy the data folder before you start a server on it`
}

function* checkSchema(database: DatabaseSync, own: OwnTables): Generator<Finding> {
  const foreign = findForeignObject(database, own)
  if (foreign !== undefined) yield `the file has ${foreign}`
}

function* checkPages(database: DatabaseSync): Generator<Finding> {
  for (const row of database.prepare('PRAGMA integrity_check(10)').iterate()) {
    const verdict = String(row['integrity_check'])
    if (verdict !== 'ok') yield `the file is damaged: ${verdict}`
  }
}

function* checkReferences(database: DatabaseSync): Generator<Finding> {
  for (const { table, parent } of database.prepare('PRAGMA foreign_key_check').iterate())
    yield `a row of the table ${String(table)} names a ${String(parent)} that does not exist`
}

function* checkChecksums(database: DatabaseSync): Generator<Finding> {
  yield* verifyChecksums(database)
  const count = countUnverified(database)
  if (count > 0)
    yield { note: `${count} records of an earlier version have no checksum yet` }
}

/** Reports whether other files prove that the catalog has lost changes. */
function* checkLoss({ dataDir, database }: OpenCatalog): Generator<Finding> {
  const folders = readFolders(database, join(dataDir, catalogFile))
  yield* findCatalogLoss(database, dataDir, folders).findings
}

/** Reports whether other files prove that the store has lost writes. */
function* checkVersion({ file, knownVersion }: OpenStore): Generator<Finding> {
  const lost = findLostWrites(file, knownVersion)
  if (lost !== undefined) yield describeLostWrites(lost)
}

/**
 * Checks the snapshots of vector indexes. An unusable snapshot only costs the time to rebuild its
 * index. A snapshot newer than the store proves that the store has lost writes: the snapshot
 * contains these writes.
 */
function* checkSnapshots({ file, database, view }: OpenStore): Generator<Finding> {
  const version = versionOf(database)
  for (const { suffix, dimension, metric } of view.vectors.values()) {
    if (metric === undefined) continue
    const folder = snapshotFolder(file, suffix)
    try {
      // The snapshot states its own width of codes and capacity.
      const shape = {
        dimension,
        metric,
        bits: 8,
        capacity: 1,
        breadth: 1,
        threads: 1,
      } as const
      const snapshot = loadSnapshot(folder, shape)
      if (snapshot !== undefined && snapshot.version > version)
        yield `${basename(folder)} has a vector index up to write ${snapshot.version}, but ` +
          `the last write of the store is ${version}: the store has lost writes`
    } catch (error) {
      const trouble = problemOf(error, folder)
      if (trouble !== undefined && preventsCheck(trouble)) throw error
      const cost = 'the index will be rebuilt'
      yield { note: `${basename(folder)} cannot be used, and ${cost}: ${messageOf(error)}` }
    }
  }
}

function versionOf(database: DatabaseSync): number {
  const sql = "SELECT value FROM meta WHERE name = 'version'"
  return Number(database.prepare(sql).get()?.['value'] ?? NaN)
}
