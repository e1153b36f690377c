/** Inserts, changes and deletes documents, and undoes deletions. */
import { command, CommandError } from '../api/command.ts'
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
  const filter = idFilter(place, document)
  const projection = place.kind === 'collection' ? everything : undefined
  const reply = await command(place, 'findOne', { filter, projection })
  const [whole] = reply.documents
  if (whole === undefined) throw new Error('The document or row no longer exists.')
  return withoutDerived(whole)
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

export interface Deletion {
  readonly count: number
  /** The deleted documents, for undo; undefined if they exceed the memory for undo. */
  readonly kept: readonly JsonObject[] | undefined
}

/** Deletes these documents and keeps a copy for undo. */
export async function deleteDocuments(
  place: Place,
  documents: readonly JsonObject[],
): Promise<Deletion> {
  const kept: JsonObject[] = []
  for (const document of documents) {
    const whole = await readWhole(place, document).catch((error: unknown) => {
      if (error instanceof CommandError) throw error
      return undefined
    })
    if (whole === undefined) continue
    const reply = await command(place, 'deleteOne', { filter: idFilter(place, whole) })
    if (reply.status['deletedCount'] !== 0) kept.push(whole)
  }
  return { count: kept.length, kept }
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

/**
 * Deletes all matching documents, which takes several requests. Keeps a copy for undo if the
 * documents are few.
 */
export async function deleteMatching(
  place: Place,
  filter: JsonObject,
  { isMore }: Matching,
  onProgress: (count: number) => void,
): Promise<Deletion> {
  const kept = isMore ? undefined : await readAll(place, filter)
  if (filter.size === 0) {
    await command(place, 'deleteMany', {})
    return { count: kept?.length ?? -1, kept }
  }
  let count = 0
  for (;;) {
    const { status } = await command(place, 'deleteMany', { filter })
    count += status['deletedCount'] as number
    onProgress(count)
    if (status['moreData'] !== true) return { count, kept }
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

const keptCharactersMax = 40_000_000
