/**
 * Looks whether a store is sound: whether what it says twice agrees.
 *
 * The documents' texts are the truth. The index, the counters and the ids are made from
 * them again and compared with what is stored, both ways. What is found is reported in plain
 * words; an empty list means that nothing was.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { parseStored } from '../../../json/parse.ts'
import { printJson } from '../../../json/print.ts'
import { isObject, type Value } from '../../../json/value.ts'
import { EngineError } from '../../errors.ts'
import type { RecordView, TextField } from '../../record-view.ts'
import { isElement } from '../runs/change.ts'
import { pathIn, valueIn } from '../runs/entry-key.ts'
import { RunsReader } from '../runs/runs-reader.ts'
import { catalogFile, catalogFormat } from '../catalog/catalog.ts'
import { EntryList } from '../store/entries.ts'
import { refuseLinks } from '../catalog/folder-names.ts'
import { readyTargets, type ReadyTarget } from '../catalog/ready-targets.ts'
import { keyOf } from '../../../language/values/key.ts'
import { analyzerFor } from '../../../search/lexical/analyzer.ts'
import { capacityFor } from '../../../search/vector/segment.ts'
import {
  checkFile,
  formatOf,
  openToRead,
  indexFormat,
  storedPath,
  storeFile,
  vectorTable,
} from '../store/layout.ts'
import { findTermProblems, type CheckedText } from '../lexical/check.ts'
import { hasText } from '../plan/conditions.ts'
import { messageOf } from '../../../errors/reason.ts'
import { vectorForm } from '../vectors/vector-bytes.ts'
import { loadSnapshot, snapshotFolder } from '../vectors/snapshot.ts'

/** What was found out about the catalog, or about one target. */
export interface Checked {
  /** "keyspace.target"; absent for the catalog. */
  readonly name?: string
  /** What is wrong, in plain words. */
  readonly findings: readonly string[]
  /** What will mend itself. */
  readonly notes: readonly string[]
}

/**
 * Checks the catalog of a data folder and then its stores, one after the other. Throws when a
 * server has the folder open, or when there is none.
 */
export function* checkEverything(dataDir: string): Generator<Checked> {
  const file = join(dataDir, catalogFile)
  if (!existsSync(file))
    throw new EngineError(
      'damaged',
      `${dataDir} is not a data folder: it has no ${catalogFile}`,
    )
  let targets: readonly ReadyTarget[] = []
  const findings = inWords(file, () => {
    checkFile(file, catalogFormat)
    targets = readyTargets(file, dataDir)
    return []
  })
  yield { findings, notes: [] }
  for (const { keyspace, name, folder, view } of targets) {
    const store = join(dataDir, folder, storeFile)
    const astray = inWords(store, () => {
      refuseLinks(dataDir, folder)
      return []
    })
    yield {
      name: `${keyspace}.${name}`,
      findings: astray.length > 0 ? astray : checkStore(store, view),
      notes:
        astray.length > 0 ? [] : [...checkFormat(store), ...checkSnapshots(store, view)],
    }
  }
}

/** An index of an earlier format is made anew when the store is opened. */
function checkFormat(file: string): string[] {
  const format = formatOf(file)
  return format === 0 || format >= indexFormat
    ? []
    : [`its index is of format ${format}, and is compared once a server has opened it`]
}

/** A snapshot that cannot be used costs the time to build its index again. */
function checkSnapshots(file: string, view: RecordView): string[] {
  const notes: string[] = []
  for (const { suffix, dimension, metric } of view.vectors.values()) {
    if (metric === undefined) continue
    const capacity = capacityFor(dimension)
    try {
      loadSnapshot(snapshotFolder(file, suffix), {
        ...{ dimension, metric, capacity },
        ...{ breadth: 1, threads: 1 },
      })
    } catch (error) {
      notes.push(
        'the snapshot of a vector index cannot be used, so the index will be built again: ' +
          messageOf(error),
      )
    }
  }
  return notes
}

/** Checks the store of one target. It may be in use: one moment of it is looked at. */
export function checkStore(file: string, view: RecordView): string[] {
  return inWords(file, () => {
    checkFile(file)
    const database = openToRead(file)
    try {
      database.exec('BEGIN')
      return new StoreCheck(database, view).run()
    } finally {
      database.close()
    }
  })
}

/** Documents of which it is remembered what they have. */
const identitiesMax = 10_000

/** Beyond this many findings the rest is only counted: they have one cause. */
const findingsMax = 100

class StoreCheck {
  readonly #database: DatabaseSync
  readonly #view: RecordView
  readonly #findings: string[] = []
  /** Undefined in stores of earlier formats, which have another one. */
  #entries: RunsReader | undefined
  #untold = 0

  constructor(database: DatabaseSync, view: RecordView) {
    this.#database = database
    this.#view = view
  }

  run(): string[] {
    for (const { integrity_check: verdict } of this.#rows('PRAGMA integrity_check(10)'))
      if (verdict !== 'ok') this.#found(`the file is damaged: ${String(verdict)}`)
    // What a damaged file says further on is not worth comparing.
    if (this.#findings.length > 0) return this.#findings
    // Indexes of an earlier format are made anew when the store is opened.
    const hasIndexes = this.#number('PRAGMA user_version') >= indexFormat
    if (hasIndexes) this.#entries = this.#openEntries()
    this.#checkDocuments()
    this.#checkMeta()
    this.#checkSearch()
    this.#checkVectors()
    if (hasIndexes) this.#checkTexts()
    if (this.#untold > 0) this.#findings.push(`${this.#untold} more like these`)
    return this.#findings
  }

  #checkDocuments(): void {
    const findPath = this.#database.prepare('SELECT id FROM path WHERE path = ?')
    let right = 0
    for (const { seq, id, text } of this.#documents()) {
      const ownId = this.#idOf(text)
      if (ownId === undefined) {
        this.#found(`document number ${seq} is not a document: ${text.slice(0, 100)}`)
        continue
      }
      const name = this.#view.kind === 'row' ? text.slice(0, 100) : printJson(ownId)
      if (Buffer.compare(id, keyOf(ownId)) !== 0)
        this.#found(`document ${name} is filed under another _id than its own`)
      if (this.#entries === undefined) continue
      for (const { path, key, element } of this.#entriesOf(text)) {
        const pathId = Number(findPath.get(storedPath(path))?.['id'] ?? 0)
        const entry = this.#entries.find(pathId, key, { seq, id })
        if (entry === undefined) this.#found(`document ${name} is not indexed at "${path}"`)
        else if (isElement(entry.state) !== element)
          this.#found(
            `document ${name} is indexed at "${path}" as ` +
              (element ? 'a value of its own' : 'an element of an array') +
              ', which it is not',
          )
        if (entry !== undefined) right++
      }
    }
    if (this.#entries !== undefined) this.#checkIndex(this.#entries, right)
  }

  #openEntries(): RunsReader | undefined {
    const entries = new RunsReader(this.#database)
    entries.begin()
    return entries
  }

  /** What the index has, and what it counts; `right` are the entries that documents have. */
  #checkIndex(entries: RunsReader, right: number): void {
    const values = new Map<number, number>()
    let count = 0
    let last = ''
    for (const { key, state } of entries.all()) {
      if (key <= last && count > 0) this.#found('the index is not in order')
      last = key
      count++
      const path = pathIn(key)
      if (!isElement(state)) values.set(path, (values.get(path) ?? 0) + 1)
    }
    if (right < count) this.#checkEntries(entries)
    for (const { id, path, documents } of this.#rows('SELECT * FROM path')) {
      if (!this.#view.covers(String(path))) continue
      const actual = values.get(Number(id)) ?? 0
      if (documents !== actual)
        this.#found(
          `"${String(path)}" is counted ${String(documents)} times, but stands ` +
            `${actual} times in the index`,
        )
      const counted = entries.countRange({ path: Number(id) })
      if (counted !== actual)
        this.#found(
          `the runs of the index count "${String(path)}" ${counted} times, and have it ` +
            `${actual} times`,
        )
    }
  }

  /** Names the entries that no document has. Slow, and needed only when there are some. */
  #checkEntries(entries: RunsReader): void {
    const paths = new Map<unknown, string>()
    for (const { id, path } of this.#rows('SELECT id, path FROM path'))
      paths.set(id, path as string)
    const findText = this.#database.prepare('SELECT text FROM doc WHERE seq = ?')
    const identities = new Map<number, Set<string> | undefined>()
    const knownOf = (doc: number) => {
      if (identities.has(doc)) return identities.get(doc)
      const text = findText.get(doc)?.['text']
      const known = text === undefined ? undefined : this.#identities(String(text))
      if (identities.size === identitiesMax) identities.clear()
      identities.set(doc, known)
      return known
    }
    for (const { key, doc } of entries.all()) {
      const path = paths.get(pathIn(key))
      const known = knownOf(doc)
      if (path === undefined)
        this.#found(`an entry of document number ${doc} has an unknown path`)
      // What an index that was never finished left behind is swept away sooner or later.
      else if (!this.#view.covers(path)) continue
      else if (known === undefined)
        this.#found(
          `the index at "${path}" names document number ${doc}, which does not exist`,
        )
      else if (!known.has(identityOf(path, valueIn(key))))
        this.#found(
          `the index at "${path}" has a value that document number ${doc} does not have`,
        )
    }
  }

  #identities(text: string): Set<string> {
    if (this.#idOf(text) === undefined) return new Set()
    return new Set(
      this.#entriesOf(text).map(({ path, key }) => identityOf(storedPath(path), key)),
    )
  }

  /** Undefined of what is no document, or no row. */
  #idOf(text: string): Value | undefined {
    try {
      const isWhole = isObject(parseStored(text))
      const isDocument = this.#view.kind === 'row' || text.startsWith('{"_id":')
      return isWhole && isDocument ? this.#view.idOf(text) : undefined
    } catch {
      return undefined
    }
  }

  #entriesOf(text: string) {
    const list = new EntryList()
    list.addDocument(this.#view.indexed(this.#view.indexed(text)))
    return list.entries.map(({ path, start, end, element }) => ({
      path,
      key: list.bytes.view(start, end),
      element,
    }))
  }

  /** What is searched by terms. A collection has an index of terms also where it is not used. */
  #checkTexts(): void {
    if (this.#view.kind === 'document')
      this.#checkTerms('', this.#documentTexts(this.#view.texts.get('$lexical')))
    else
      for (const [path, field] of this.#view.texts)
        this.#checkTerms(field.suffix, this.#rowTexts(path, field))
  }

  #checkTerms(suffix: string, texts: Iterable<CheckedText>): void {
    for (const finding of findTermProblems(this.#database, suffix, texts))
      this.#found(finding)
  }

  *#documentTexts(field: TextField | undefined): Generator<CheckedText> {
    const analyzer = field && analyzerFor(field.analyzer)
    const texts = this.#database.prepare(`SELECT doc, lexical FROM search WHERE ${hasText}`)
    for (const { doc, lexical } of texts.iterate()) {
      const terms = analyzer?.terms(parseStored(String(lexical)) as string)
      yield { seq: doc as number, terms }
    }
  }

  *#rowTexts(path: string, { analyzer }: TextField): Generator<CheckedText> {
    const analysis = analyzerFor(analyzer)
    const names = new Set([path])
    for (const { seq, text } of this.#documents()) {
      const value = this.#view.see(text, names).get(path) ?? ''
      if (value !== '') yield { seq, terms: analysis.terms(value as string) }
    }
  }

  #checkVectors(): void {
    for (const { suffix, dimension } of this.#view.vectors.values()) {
      if (suffix === '') continue
      const wrong = this.#number(
        `SELECT count(*) FROM ${vectorTable(suffix)} WHERE length(vector) <> ` +
          `${4 * dimension} OR doc NOT IN (SELECT seq FROM doc)`,
      )
      if (wrong > 0) this.#found(`${wrong} vectors are of another length, or of no row`)
    }
  }

  #checkMeta(): void {
    const counted = this.#number("SELECT value FROM meta WHERE name = 'documents'")
    const documents = this.#number('SELECT count(*) FROM doc')
    if (counted !== documents)
      this.#found(`${documents} documents are stored, but ${counted} are counted`)
    const written = this.#number("SELECT value FROM meta WHERE name = 'version'")
    const newest = this.#number('SELECT coalesce(max(version), 0) FROM doc')
    if (newest > written)
      this.#found(
        `a document has version ${newest}, but only ${written} writes are counted`,
      )
  }

  #checkSearch(): void {
    const rows = this.#database.prepare(
      'SELECT s.doc, s.vector_form AS form, length(s.vector) AS size, s.vectorize, s.lexical, ' +
        'd.seq FROM search s LEFT JOIN doc d ON d.seq = s.doc',
    )
    for (const row of rows.iterate()) {
      const { doc, form, size, vectorize, lexical, seq } = row
      const name = `document number ${String(doc)}`
      if (seq === null)
        this.#found(`search fields are stored for ${name}, which does not exist`)
      if (!isVectorSize(form as number, size as number | null))
        this.#found(
          `the $vector of ${name} cannot be read: form ${String(form)}, ${String(size)} bytes`,
        )
      if (!isStoredText(vectorize)) this.#found(`the $vectorize of ${name} cannot be read`)
      if (!isStoredText(lexical)) this.#found(`the $lexical of ${name} cannot be read`)
    }
  }

  *#documents(): Generator<{ seq: number; id: Uint8Array; text: string }> {
    const all = this.#database.prepare('SELECT seq, id, text FROM doc')
    for (const { seq, id, text } of all.iterate())
      yield { seq: seq as number, id: id as Uint8Array, text: text as string }
  }

  #rows(sql: string): Record<string, unknown>[] {
    return this.#database.prepare(sql).all()
  }

  #number(sql: string): number {
    return Number(Object.values(this.#database.prepare(sql).get() ?? {})[0] ?? NaN)
  }

  #found(finding: string): void {
    if (this.#findings.length < findingsMax) this.#findings.push(finding)
    else this.#untold++
  }
}

/** A file that cannot be read at all is a finding too. */
function inWords(file: string, check: () => string[]): string[] {
  try {
    return check()
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'damaged') return [error.message]
    if (error instanceof Error && 'errcode' in error)
      return [`${file} cannot be read: ${error.message}`]
    throw error
  }
}

function identityOf(path: string, key: Uint8Array): string {
  return `${Buffer.from(key).toString('hex')} ${path}`
}

function isVectorSize(form: number, size: number | null): boolean {
  switch (form) {
    case vectorForm.absent:
    case vectorForm.null:
      return size === null
    case vectorForm.arrayOfSingles:
    case vectorForm.binary:
      return size !== null && size % 4 === 0
    case vectorForm.arrayOfDoubles:
      return size !== null && size % 8 === 0
    default:
      return false
  }
}

/** Absent, or JSON of a text or null. */
function isStoredText(stored: unknown): boolean {
  if (typeof stored !== 'string') return stored === null
  try {
    const value = parseStored(stored)
    return value === null || typeof value === 'string'
  } catch {
    return false
  }
}
