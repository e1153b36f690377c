/**
 * Finds out whether other files of the data folder prove that the catalog has lost changes. Writes
 * nothing. The start of a server and `stela check` use it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inspectLog } from '../files/write-ahead-log.ts'
import { formatOf, storeFile } from '../store/layout.ts'
import { generationOf, sealedFormat, checksumFindings } from './catalog-file.ts'
import { readMirror } from './catalog-mirror.ts'
import { catalogFile } from './data-folder.ts'
import type { CatalogFolders } from '../store/folder-names.ts'
import { lostCatalog, mayHoldData, unlistedStores } from './lost-stores.ts'
import { readTargetFile, type TargetDescription } from './target-file.ts'

export interface CatalogLoss {
  /** Findings for the operator; empty when nothing is lost. */
  readonly findings: readonly string[]
  /** Folders of stores that the catalog does not list, or lists as another target. */
  readonly unlisted: readonly string[]
  /** Uids of rows whose store is missing or belongs to another target. */
  readonly staleRows: readonly string[]
  /** The highest generation recorded in any file. */
  readonly generation: number
}

/** A target's row in the catalog. */
interface ListedTarget {
  readonly uid: string
  readonly state: string
  readonly folder: string
  /** The description in the target's own folder; undefined if it cannot be read. */
  readonly own: TargetDescription | undefined
}

export function findCatalogLoss(
  database: DatabaseSync,
  dataDir: string,
  folders: CatalogFolders,
): CatalogLoss {
  const rows = database.prepare('SELECT uid, state FROM target').all()
  const listed = rows.map(({ uid, state }): ListedTarget => {
    const folder = folders.targets.get(String(uid))!
    const described = readTargetFile(join(dataDir, folder))
    const own = typeof described === 'object' ? described.content : undefined
    return { uid: String(uid), state: String(state), folder, own }
  })
  const search = new LossSearch(dataDir, generationOf(database))
  search.findings.push(...checksumFindings(database))
  search.compareGenerations(listed)
  for (const target of listed) search.look(target)
  search.findUnlisted(folders.targets.values())
  const { findings, unlisted, staleRows, generation } = search
  return { findings, unlisted, staleRows, generation }
}

/**
 * Rejects a folder with a damaged catalog log before SQLite opens it and discards the part after
 * the damage. From format 4 on, changes are checkpointed before they are acknowledged, so a torn
 * log holds no acknowledged change.
 */
export function refuseDamagedLog(dataDir: string): void {
  const file = join(dataDir, catalogFile)
  if (formatOf(file) >= sealedFormat || inspectLog(file).kind !== 'damaged') return
  throw lostCatalog(dataDir, [`${catalogFile}-wal is damaged: its latest changes are lost`])
}

class LossSearch {
  readonly findings: string[] = []
  readonly unlisted: string[] = []
  readonly staleRows: string[] = []
  generation: number
  readonly #dataDir: string
  readonly #own: number

  constructor(dataDir: string, generation: number) {
    this.#dataDir = dataDir
    this.#own = generation
    this.generation = generation
  }

  /**
   * Compares the generation of the catalog with the generations recorded in other files. Other
   * files record a generation only after the catalog has reached it, so a higher recorded
   * generation proves a loss.
   */
  compareGenerations(listed: readonly ListedTarget[]): void {
    const mirror = readMirror(this.#dataDir)
    const recorded = typeof mirror === 'object' ? [mirror.content.generation] : []
    for (const { own } of listed) if (own !== undefined) recorded.push(own.generation)
    this.generation = recorded.reduce((a, b) => Math.max(a, b), this.#own)
    if (this.generation > this.#own)
      this.findings.push(
        `${catalogFile} is at generation ${this.#own}, but other files record ` +
          `generation ${this.generation}: its latest changes are lost`,
      )
  }

  look({ uid, state, folder, own }: ListedTarget): void {
    const file = join(this.#dataDir, folder, storeFile)
    const isBehind = this.generation > this.#own
    if (own !== undefined && own.uid !== uid) {
      this.findings.push(
        `${folder} contains another collection or table than the catalog lists`,
      )
      this.#take(uid, folder)
    } else if (state === 'creating' && mayHoldData(file)) {
      this.findings.push(
        `${folder} contains data, but the catalog lists it as not yet created`,
      )
      this.#take(uid, folder)
    } else if (isBehind && state === 'dropping' && own === undefined && mayHoldData(file))
      // The catalog has lost the end of this drop, and another target may use the folder by now.
      this.#take(uid, folder)
    // The target was dropped, and the catalog has lost the drop.
    else if (isBehind && state === 'ready' && !existsSync(file)) this.staleRows.push(uid)
  }

  #take(uid: string, folder: string): void {
    this.unlisted.push(folder)
    this.staleRows.push(uid)
  }

  findUnlisted(listed: Iterable<string>): void {
    const found = unlistedStores(this.#dataDir, listed)
    if (found.length === 0) return
    this.unlisted.push(...found)
    this.findings.push(`it does not list ${namesOf(found)}`)
  }
}

/** The first `namedMax` folders, and the number of all others. */
function namesOf(folders: readonly string[]): string {
  const named = folders.slice(0, namedMax).join(', ')
  const more = folders.length - namedMax
  return more > 0 ? `${named} and ${more} more` : named
}

const namedMax = 20
