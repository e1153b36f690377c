/**
 * Upgrades stores that an earlier version wrote.
 *
 * Format 1 to 2: adds the feed, and builds the term index of existing texts.
 *
 * Format 2 to 3: converts the value index from the table `entry` to a run, which takes less than
 * half of the space; SQLite reuses the freed pages. Converts the postings of each term index to a
 * segment.
 *
 * Format 3 to 4: adds checksums. Existing rows are not rewritten: they have no checksum, and are
 * not verified, until their next change.
 */
import type { DatabaseSync } from 'node:sqlite'
import { parseStored } from '../../../json/parse.ts'
import { analyzerFor } from '../../../search/lexical/analyzer.ts'
import { EngineError } from '../../errors.ts'
import type { CollectionOptions } from '../../schema.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { EmbeddedOptions } from '../schema/options.ts'
import { formatOf, formatVersion, openToWrite, searchSchema } from '../store/layout.ts'
import { upgradePostings } from '../lexical/upgrade.ts'
import { countTerms, LexicalWriter } from '../lexical/writer.ts'
import { added, type Change } from '../runs/change.ts'
import { entryKey, type Tie } from '../format/entry-key.ts'
import { runsSchema } from '../runs/layout.ts'
import { RunsWriter } from '../runs/runs-writer.ts'
import { messageOf } from '../../../errors/reason.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'

/**
 * Upgrades all stores to the current format. Must run before anything else opens them. Throws when
 * a store cannot be upgraded; that store stays unchanged.
 */
export function upgradeStores(catalog: Catalog, log: EmbeddedOptions['log']): void {
  for (const target of catalog.targets) {
    const file = catalog.storeFile(target)
    // A header shows the current format only after the checkpoint of an upgrade.
    if (file === undefined || formatOf(file) === formatVersion) continue
    const tell = (percent: number) =>
      log('info', `Upgrading ${file} to format ${formatVersion}: ${percent} % done`)
    if (upgradeStore(file, target, tell))
      log('info', `Upgraded ${file} to format ${formatVersion}`)
  }
}

/**
 * Upgrades a store in one transaction, so that a crash leaves the old or the new format. Returns
 * whether the store had an earlier format.
 */
function upgradeStore(
  file: string,
  target: StoredTarget,
  tell: (percent: number) => void,
): boolean {
  try {
    const database = openToWrite(file, true)
    try {
      const format = Number(database.prepare('PRAGMA user_version').get()!['user_version'])
      if (format < formatVersion) {
        database.exec('BEGIN IMMEDIATE')
        if (format < 2 && target.kind === 'collection') {
          database.exec(searchSchema)
          indexTexts(database, target.options)
        } else if (format < 3) upgradePostings(database)
        if (format < 3) moveEntries(database, target.kind === 'table' ? 'id' : 'doc', tell)
        addChecksums(database)
        database.exec(`PRAGMA user_version = ${formatVersion}; COMMIT`)
      }
      // The format must reach the database file itself, because the next start reads it there.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return format < formatVersion
    } finally {
      database.close()
    }
  } catch (error) {
    throw new EngineError(
      'write',
      `${file} cannot be upgraded to format ${formatVersion}: ${messageOf(error)}. ` +
        'The file was not changed',
      { cause: error },
    )
  }
}

function indexTexts(database: DatabaseSync, { lexical }: CollectionOptions): void {
  const analyzer = lexical.enabled ? analyzerFor(lexical.analyzer) : undefined
  const writer = new LexicalWriter(database, '')
  const texts = database.prepare(
    'SELECT doc, lexical FROM search WHERE lexical IS NOT NULL ORDER BY doc',
  )
  for (const { doc, lexical: stored } of texts.iterate()) {
    const text = parseStored(stored as string)
    if (typeof text !== 'string' || text === '') continue
    writer.put(doc as number, countTerms(analyzer?.terms(text) ?? []))
    if (writer.isDue) writer.keepUp()
  }
  writer.fold()
  writer.finish()
}

/** Tables with checksums; some names have a suffix. */
const summedTables =
  /^(doc|search|vector_\d+|recent|segment|block|(textsegment|posting|waiting)(_\d+)?)$/

/** Adds the columns for checksums. Tables that this upgrade created have them already. */
function addChecksums(database: DatabaseSync): void {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)')
  for (const { name } of tables) {
    const table = String(name)
    if (!summedTables.test(table)) continue
    const known = new Set(columns.all(table).map((column) => column['name']))
    const wanted = table === 'segment' ? ['detail_checksum', 'checksum'] : ['checksum']
    for (const column of wanted)
      if (!known.has(column))
        database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} INTEGER`)
  }
  database.exec("INSERT OR IGNORE INTO meta VALUES ('digest', 0)")
}

/** Converts the table `entry`, which is read in index order. */
function moveEntries(
  database: DatabaseSync,
  tie: Tie,
  tell: (percent: number) => void,
): void {
  database.exec(runsSchema(tie))
  new RunsWriter(database).load(entriesIn(database, tie, tell))
  database.exec('DROP TABLE entry')
}

interface EntryRow {
  readonly path: number
  readonly value: Uint8Array
  readonly id: Uint8Array
  readonly doc: number
  readonly element: number
}

function* entriesIn(
  database: DatabaseSync,
  tie: Tie,
  tell: (percent: number) => void,
): Generator<Change> {
  const { total } = database.prepare('SELECT count(*) AS total FROM entry').get()!
  const all = database.prepare(
    `SELECT path, value, ${tie === 'id' ? 'id' : "x'' AS id"}, doc, element FROM entry ` +
      `ORDER BY path, value, ${tie}`,
  )
  let count = 0
  let toldAt = performance.now()
  for (const found of all.iterate()) {
    const { path, value, id, doc, element } = found as unknown as EntryRow
    const key = entryKey(path, value, { seq: doc, id }, tie)
    yield { key, state: added(element === 1), doc }
    if (++count % 10_000 > 0 || performance.now() - toldAt < tellMs) continue
    toldAt = performance.now()
    tell(Math.floor((100 * count) / Number(total)))
  }
}

/** Interval between two progress lines in the log, in milliseconds. */
const tellMs = 5_000
