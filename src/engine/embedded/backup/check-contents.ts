/**
 * Checks the redundant parts of a store. The documents' texts are authoritative: the check derives
 * index entries, counters and ids from the texts, and compares them with the stored ones. It
 * reports missing, superfluous and wrong ones.
 */
import type { DatabaseSync } from 'node:sqlite'
import { parseStored } from '../../../json/parse.ts'
import { printJson } from '../../../json/print.ts'
import { isObject, type Value } from '../../../json/value.ts'
import { keyOf } from '../../../language/values/key.ts'
import {
  analyzerFor,
  hasLastingTerms,
  type Analyzer,
} from '../../../search/lexical/analyzer.ts'
import type { RecordView, TextField } from '../../record-view.ts'
import { findTermProblems, type CheckedText } from '../lexical/check.ts'
import { hasText } from '../read/conditions.ts'
import { isElement } from '../runs/change.ts'
import { pathIn, valueIn } from '../format/entry-key.ts'
import { RunsReader } from '../runs/runs-reader.ts'
import { EntryList } from '../format/entries.ts'
import { indexFormat, storedPath, vectorTable } from '../store/layout.ts'
import { vectorForm } from '../format/vector-bytes.ts'
import type { Finding } from './run-checks.ts'

export function checkContents(database: DatabaseSync, view: RecordView): Iterable<Finding> {
  return new ContentsCheck(database, view).run()
}

/** Maximum number of documents whose entries are cached. */
const identitiesMax = 10_000

class ContentsCheck {
  readonly #database: DatabaseSync
  readonly #view: RecordView
  /** The value index; undefined in stores of earlier formats, whose index has another layout. */
  #entries: RunsReader | undefined

  constructor(database: DatabaseSync, view: RecordView) {
    this.#database = database
    this.#view = view
  }

  *run(): Generator<Finding> {
    const format = this.#number('PRAGMA user_version')
    const hasIndexes = format >= indexFormat
    if (hasIndexes) this.#entries = this.#openEntries()
    else
      yield {
        note:
          `its index has format ${format}; it cannot be compared until a server has ` +
          'upgraded it',
      }
    yield* this.#checkDocuments()
    yield* this.#checkMeta()
    yield* this.#checkSearch()
    yield* this.#checkVectors()
    if (hasIndexes) yield* this.#checkTexts()
  }

  *#checkDocuments(): Generator<Finding> {
    const findPath = this.#database.prepare('SELECT id FROM path WHERE path = ?')
    let right = 0
    for (const { seq, id, text } of this.#documents()) {
      const ownId = this.#idOf(text)
      if (ownId === undefined) {
        yield `document number ${seq} is not a document: ${text.slice(0, 100)}`
        continue
      }
      const name = this.#view.kind === 'row' ? text.slice(0, 100) : printJson(ownId)
      if (Buffer.compare(id, keyOf(ownId)) !== 0)
        yield `document ${name} is stored under the key of another _id`
      if (this.#entries === undefined) continue
      for (const { path, key, element } of this.#entriesOf(text)) {
        const pathId = Number(findPath.get(storedPath(path))?.['id'] ?? 0)
        const entry = this.#entries.find(pathId, key, { seq, id })
        if (entry === undefined) yield `document ${name} is not indexed at "${path}"`
        else if (isElement(entry.state) !== element)
          yield `the index has the value of document ${name} at "${path}" as ` +
            (element
              ? 'a value of its own, but it is an element of an array'
              : 'an element of an array, but it is a value of its own')
        if (entry !== undefined) right++
      }
    }
    if (this.#entries !== undefined) yield* this.#checkIndex(this.#entries, right)
  }

  #openEntries(): RunsReader | undefined {
    const entries = new RunsReader(this.#database)
    entries.begin()
    return entries
  }

  /** Walks the whole index. `right` is the number of entries that match a document. */
  *#checkIndex(entries: RunsReader, right: number): Generator<Finding> {
    const values = new Map<number, number>()
    let count = 0
    let last = ''
    for (const { key, state } of entries.all()) {
      if (key <= last && count > 0) yield 'the index is not in order'
      last = key
      count++
      const path = pathIn(key)
      if (!isElement(state)) values.set(path, (values.get(path) ?? 0) + 1)
    }
    if (right < count) yield* this.#checkEntries(entries)
    for (const { id, path, documents } of this.#rows('SELECT * FROM path')) {
      if (!this.#view.covers(String(path))) continue
      const actual = values.get(Number(id)) ?? 0
      if (documents !== actual)
        yield `"${String(path)}" is counted ${String(documents)} times, but occurs ` +
          `${actual} times in the index`
      const counted = entries.countRange({ path: Number(id) })
      if (counted !== actual)
        yield `the runs of the index count "${String(path)}" ${counted} times, but contain ` +
          `it ${actual} times`
    }
  }

  /**
   * Reports the entries that match no document. This is slow, so it runs only if such entries
   * exist.
   */
  *#checkEntries(entries: RunsReader): Generator<Finding> {
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
      if (path === undefined) yield `an entry of document number ${doc} has an unknown path`
      // An entry that no index covers remains from an unfinished index. A server sweeps it later.
      else if (!this.#view.covers(path)) continue
      else if (known === undefined)
        yield `the index at "${path}" names document number ${doc}, which does not exist`
      else if (!known.has(identityOf(path, valueIn(key))))
        yield `the index at "${path}" has a value that document number ${doc} does not have`
    }
  }

  #identities(text: string): Set<string> {
    if (this.#idOf(text) === undefined) return new Set()
    return new Set(
      this.#entriesOf(text).map(({ path, key }) => identityOf(storedPath(path), key)),
    )
  }

  /** The id of the record with this text; undefined when the text is not a document or row. */
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

  /** Checks the term indexes. Every collection has one, even if lexical search is off. */
  *#checkTexts(): Generator<Finding> {
    if (this.#view.kind === 'document')
      yield* this.#checkTerms('', this.#documentTexts(this.#view.texts.get('$lexical')))
    else
      for (const [path, field] of this.#view.texts)
        yield* this.#checkTerms(field.suffix, this.#rowTexts(path, field))
  }

  #checkTerms(suffix: string, texts: Iterable<CheckedText>): Iterable<Finding> {
    return findTermProblems(this.#database, suffix, texts)
  }

  *#documentTexts(field: TextField | undefined): Generator<CheckedText> {
    const analyzer = field && lastingAnalyzer(field)
    const texts = this.#database.prepare(`SELECT doc, lexical FROM search WHERE ${hasText}`)
    for (const { doc, lexical } of texts.iterate()) {
      const terms = analyzer?.terms(parseStored(String(lexical)) as string)
      yield { seq: doc as number, terms }
    }
  }

  *#rowTexts(path: string, { analyzer }: TextField): Generator<CheckedText> {
    const analysis = lastingAnalyzer({ analyzer })
    const names = new Set([path])
    for (const { seq, text } of this.#documents()) {
      const value = this.#view.see(text, names).get(path) ?? ''
      if (value !== '') yield { seq, terms: analysis?.terms(value as string) }
    }
  }

  *#checkVectors(): Generator<Finding> {
    for (const { suffix, dimension } of this.#view.vectors.values()) {
      if (suffix === '') continue
      const wrong = this.#number(
        `SELECT count(*) FROM ${vectorTable(suffix)} WHERE length(vector) <> ` +
          `${4 * dimension} OR doc NOT IN (SELECT seq FROM doc)`,
      )
      if (wrong > 0) yield `${wrong} vectors have the wrong length, or belong to no row`
    }
  }

  *#checkMeta(): Generator<Finding> {
    const counted = this.#number("SELECT value FROM meta WHERE name = 'documents'")
    const documents = this.#number('SELECT count(*) FROM doc')
    if (counted !== documents)
      yield `${documents} documents are stored, but ${counted} are counted`
    const written = this.#number("SELECT value FROM meta WHERE name = 'version'")
    const newest = this.#number('SELECT coalesce(max(version), 0) FROM doc')
    if (newest > written)
      yield `a document has version ${newest}, but only ${written} writes are counted`
  }

  *#checkSearch(): Generator<Finding> {
    const rows = this.#database.prepare(
      'SELECT s.doc, s.vector_form AS form, length(s.vector) AS size, s.vectorize, s.lexical, ' +
        'd.seq FROM search s LEFT JOIN doc d ON d.seq = s.doc',
    )
    for (const row of rows.iterate()) {
      const { doc, form, size, vectorize, lexical, seq } = row
      const name = `document number ${String(doc)}`
      if (seq === null) yield `search fields are stored for ${name}, which does not exist`
      if (!isVectorSize(form as number, size as number | null))
        yield `the $vector of ${name} cannot be read: form ${String(form)}, ${String(size)} bytes`
      if (!isStoredText(vectorize)) yield `the $vectorize of ${name} cannot be read`
      if (!isStoredText(lexical)) yield `the $lexical of ${name} cannot be read`
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
}

/**
 * The analyzer of a text field; undefined when another version of the analyzer may have split the
 * texts into other terms.
 */
function lastingAnalyzer({ analyzer }: Pick<TextField, 'analyzer'>): Analyzer | undefined {
  return hasLastingTerms(analyzer) ? analyzerFor(analyzer) : undefined
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

/** Whether a stored text is valid: null, or JSON of a string or of null. */
function isStoredText(stored: unknown): boolean {
  if (typeof stored !== 'string') return stored === null
  try {
    const value = parseStored(stored)
    return value === null || typeof value === 'string'
  } catch {
    return false
  }
}
