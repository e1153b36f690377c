/** Inserts, changes and deletes documents, and undoes deletions. */
import { command } from '../api/command.ts'
import { keyColumns, type Place } from '../api/place.ts'
import { printJson } from '../json/print-json.ts'
import { Numeral, type JsonObject, type Printable, type Value } from '../json/value.ts'
import { idFilter } from './document-id.ts'

/** Maximum number of documents per insertMany, which the API limits. */
const insertedMax = 100
/**
 * Maximum characters per insertMany. The API limits request bodies to 20 MB and documents to 4 MB.
 */
const insertedCharactersMax = 8_000_000

const everything: JsonObject = new Map([['*', new Numeral('1')]])

/**
 * Reads a document with the fields that a find omits. Without these fields, a replacement would
 * delete the document's vector.
 */
export async function readWhole(place: Place, document: JsonObject): Promise<JsonObject> {
  const whole = await readIfThere(place, document)
  if (whole === undefined) throw new Error('The document or row no longer exists.')
  return whole
}

async function readIfThere(
  place: Place,
  document: JsonObject,
): Promise<JsonObject | undefined> {
  const filter = idFilter(place, document)
  const projection = place.kind === 'collection' ? everything : undefined
  const reply = await command(place, 'findOne', { filter, projection })
  const [whole] = reply.documents
  return whole && withoutDerived(whole)
}

/**
 * Drops the vector of a document with `$vectorize`: the server derives the vector from that text,
 * and rejects writes with both fields.
 */
function withoutDerived(document: JsonObject): JsonObject {
  if (!document.get('$vectorize')) return document
  const written = new Map(document)
  written.delete('$vector')
  return written
}

export async function insertDocuments(
  place: Place,
  documents: readonly JsonObject[],
): Promise<number> {
  if (documents.length === 1) {
    await command(place, 'insertOne', { document: documents[0] })
    return 1
  }
  let count = 0
  for (const batch of batchesOf(documents)) {
    await command(place, 'insertMany', { documents: batch, options: { ordered: true } })
    count += batch.length
  }
  return count
}

function* batchesOf(documents: readonly JsonObject[]): Iterable<readonly JsonObject[]> {
  let batch: JsonObject[] = []
  let characters = 0
  for (const document of documents) {
    const { length } = printJson(document)
    if (batch.length === insertedMax || characters + length > insertedCharactersMax) {
      if (batch.length > 0) yield batch
      batch = []
      characters = 0
    }
    batch.push(document)
    characters += length
  }
  if (batch.length > 0) yield batch
}

export async function replaceDocument(
  place: Place,
  before: JsonObject,
  after: JsonObject,
): Promise<void> {
  if (place.kind === 'table') return replaceRow(place, before, after)
  const reply = await command(place, 'findOneAndReplace', {
    filter: idFilter(place, before),
    replacement: after,
    projection: { _id: 1 },
  })
  if (reply.data.document === null) throw new Error('The document or row no longer exists.')
}

/**
 * Changes a row to `after`. The API cannot replace rows, so columns that differ are set, and
 * columns that `after` lacks are unset.
 */
async function replaceRow(place: Place, before: JsonObject, after: JsonObject) {
  const set = new Map<string, Value>()
  const unset = new Map<string, Value>()
  for (const [name, value] of after)
    if (!isEqual(before.get(name), value)) set.set(name, value)
  for (const name of before.keys()) if (!after.has(name)) unset.set(name, '')
  const moved = keyColumns(place).find((name) => set.has(name) || unset.has(name))
  if (moved !== undefined)
    throw new Error(
      `"${moved}" is part of the primary key, which cannot be changed. Insert another row.`,
    )
  const update = new Map<string, Value>()
  if (set.size > 0) update.set('$set', set)
  if (unset.size > 0) update.set('$unset', unset)
  if (update.size > 0) await updateDocument(place, before, update)
}

function isEqual(one: Value | undefined, other: Value): boolean {
  return one !== undefined && printJson(one) === printJson(other)
}

/** Applies update operators to a document. */
export async function updateDocument(
  place: Place,
  document: JsonObject,
  update: JsonObject,
): Promise<void> {
  const filter = idFilter(place, document)
  const reply = await command(place, 'updateOne', { filter, update })
  if (reply.status['matchedCount'] === 0)
    throw new Error('The document or row no longer exists.')
}

/** Selected documents, or all matches of a filter. */
export type Doomed =
  { readonly documents: readonly JsonObject[] } | { readonly filter: JsonObject }

export interface Deletion {
  /** Number of deleted documents; undefined if the API does not count them. */
  readonly count: number | undefined
  /** The deleted documents, for undo; undefined without copies. */
  readonly kept: readonly JsonObject[] | undefined
}

/**
 * Maximum characters of the copies that are kept for undo. They are in memory for as long as the
 * message that offers the undo is shown.
 */
export const keptCharactersMax = 40_000_000

/** Copies of the documents, for undo; undefined if they exceed the maximum. */
export async function copyDoomed(
  place: Place,
  doomed: Doomed,
): Promise<readonly JsonObject[] | undefined> {
  if ('filter' in doomed) return readAll(place, doomed.filter)
  const copies: JsonObject[] = []
  let characters = 0
  for (const document of doomed.documents) {
    const whole = await readIfThere(place, document)
    if (whole === undefined) continue
    characters += printJson(whole).length
    if (characters > keptCharactersMax) return undefined
    copies.push(whole)
  }
  return copies
}

/** Deletes the documents. Returns copies of the documents that still existed. */
export async function deleteDocuments(
  place: Place,
  documents: readonly JsonObject[],
  copies: readonly JsonObject[] | undefined,
): Promise<Deletion> {
  const kept: JsonObject[] = []
  let count = 0
  for (const document of copies ?? documents) {
    const reply = await command(place, 'deleteOne', { filter: idFilter(place, document) })
    if (reply.status['deletedCount'] === 0) continue
    count++
    kept.push(document)
  }
  return { count, kept: copies === undefined ? undefined : kept }
}

/** The number of matching documents, up to the maximum that the API counts. */
export interface Matching {
  readonly count: number
  readonly isMore: boolean
}

export async function countMatching(
  place: Place,
  filter: Value | undefined,
  signal?: AbortSignal,
): Promise<Matching> {
  const { status } = await command(
    place,
    'countDocuments',
    { filter },
    signal === undefined ? {} : { signal },
  )
  return { count: status['count'] as number, isMore: status['moreData'] === true }
}

/** Deletes all matching documents, which takes several requests. */
export async function deleteMatching(
  place: Place,
  filter: JsonObject,
  kept: readonly JsonObject[] | undefined,
  onProgress: (count: number) => void,
): Promise<Deletion> {
  if (filter.size === 0) {
    await command(place, 'deleteMany', {})
    return { count: kept?.length, kept }
  }
  let count = 0
  for (;;) {
    const { status } = await command(place, 'deleteMany', { filter })
    count += status['deletedCount'] as number
    onProgress(count)
    if (status['moreData'] !== true) return { count, kept }
  }
}

export interface UpdateCount {
  readonly matched: number
  readonly modified: number
}

/** Updates all matching documents, which takes several requests. */
export async function updateMatching(
  place: Place,
  filter: JsonObject,
  update: JsonObject,
  onProgress: (count: number) => void,
): Promise<UpdateCount> {
  let [matched, modified] = [0, 0]
  let pageState: string | undefined
  for (;;) {
    const { status } = await command(place, 'updateMany', {
      filter,
      update,
      ...(pageState === undefined ? {} : { options: { pageState } }),
    })
    matched += status['matchedCount'] as number
    modified += status['modifiedCount'] as number
    onProgress(matched)
    if (status['moreData'] !== true) return { matched, modified }
    pageState = status['nextPageState'] as string
  }
}

/** All matching documents; undefined when they would need too much memory. */
async function readAll(
  place: Place,
  filter: JsonObject,
): Promise<readonly JsonObject[] | undefined> {
  const documents: JsonObject[] = []
  let characters = 0
  let pageState: string | null = null
  do {
    const fields: Printable = {
      filter,
      projection: everything,
      ...(pageState === null ? {} : { options: { pageState } }),
    }
    const reply = await command(place, 'find', fields)
    documents.push(...reply.documents.map(withoutDerived))
    characters += reply.received.length
    if (characters > keptCharactersMax) return undefined
    pageState = reply.data.nextPageState ?? null
  } while (pageState !== null)
  return documents
}
