/**
 * Brings stores that an earlier version wrote to the present format.
 *
 * From 1 to 2: adds the feed, and indexes the texts that are there by their terms.
 */
import type { DatabaseSync } from 'node:sqlite'
import { parseStored } from '../../../json/parse.ts'
import { analyzerFor } from '../../../search/lexical/analyzer.ts'
import { EngineError } from '../../errors.ts'
import type { CollectionOptions } from '../../schema.ts'
import type { Catalog } from './catalog.ts'
import type { EmbeddedOptions } from '../options.ts'
import { formatOf, formatVersion, openToWrite, searchSchema } from '../store/layout.ts'
import { countTerms, LexicalWriter } from '../lexical/writer.ts'
import { messageOf } from '../../../errors/reason.ts'

/** Before anybody else opens them. Throws when it cannot be done, and then changes nothing. */
export function upgradeStores(catalog: Catalog, log: EmbeddedOptions['log']): void {
  for (const target of catalog.targets) {
    const file = catalog.storeFile(target)
    // The header may be older than the log, never newer.
    if (file === undefined || target.kind === 'table') continue
    if (formatOf(file) === formatVersion) continue
    if (upgradeStore(file, target.options))
      log('info', `${file} was brought to format ${formatVersion}`)
  }
}

/** In one transaction: whatever happens, a store is of one format or of the other. */
function upgradeStore(file: string, options: CollectionOptions): boolean {
  try {
    const database = openToWrite(file, true)
    try {
      const isOld = database.prepare('PRAGMA user_version').get()!['user_version'] === 1
      if (isOld) {
        database.exec('BEGIN IMMEDIATE')
        database.exec(searchSchema)
        indexTexts(database, options)
        database.exec(`PRAGMA user_version = ${formatVersion}; COMMIT`)
      }
      // The mark must reach the file itself, which is what a start looks at.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return isOld
    } finally {
      database.close()
    }
  } catch (error) {
    throw new EngineError(
      'write',
      `${file} cannot be brought to format ${formatVersion}: ${messageOf(error)}. It is as it was`,
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
    writer.finish()
  }
  writer.fold()
}
