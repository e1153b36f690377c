/** Packs writes of documents for the writer thread. */
import { parseStoredInSteps } from '../../../json/parse.ts'
import { printJson } from '../../../json/print.ts'
import type { JsonObject } from '../../../json/value.ts'
import { Pace, valueLength, type Steps } from '../../../runtime/steps.ts'
import type { NewRecord, SearchFields, Write } from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'
import { difference, type Entry, type EntryList } from '../format/entries.ts'
import { seqOf } from '../read/record-page.ts'
import { encodeVector, vectorForm } from '../format/vector-bytes.ts'
import { BatchPacker } from './batch-packer.ts'
import type { Operation, SearchColumns, TermSpan, WriteBatch } from './write-batch.ts'
import { sizeOf } from './write-pieces.ts'

const none = [] as const

export function* packWrites(
  writes: readonly Write[],
  view: RecordView,
  ordered: boolean,
): Steps<WriteBatch> {
  const packer = new BatchPacker()
  const operations: Operation[] = []
  const pace = new Pace()
  for (const write of writes) {
    const { removed, added } = yield* changedEntries(write, packer.list, view)
    const { kind } = write
    const id = packer.addId(kind === 'insert' ? write.record.id : write.before.id)
    const entries = packer.addEntries(removed, added)
    // Spread syntax is avoided, because this runs for every written document.
    operations.push({
      kind,
      idStart: id.idStart,
      idEnd: id.idEnd,
      version: kind === 'insert' ? 0 : Number(write.before.version),
      seq: kind === 'insert' ? 0 : (seqOf(write.before) ?? 0),
      text: recordOf(write)?.text ?? '',
      search: changedSearch(write),
      textTerms: termsOf(write, packer),
      vectors: none,
      texts: none,
      from: entries.from,
      middle: entries.middle,
      to: entries.to,
    })
    pace.spend(sizeOf(write) / valueLength)
    if (pace.isDue()) yield
  }
  return yield* packer.pack(operations, ordered)
}

function* changedEntries(write: Write, list: EntryList, view: RecordView) {
  switch (write.kind) {
    case 'insert':
      return { removed: none, added: yield* entriesOf(write.record.document, list, view) }
    case 'replace': {
      const fields = yield* changedFields(write.beforeDocument, write.after.document)
      const before = yield* entriesOf(fields.before, list, view)
      const after = yield* entriesOf(fields.after, list, view)
      return yield* difference(list, before, after)
    }
    case 'delete': {
      const record = (yield* parseStoredInSteps(write.before.text)) as JsonObject
      return { removed: yield* entriesOf(record, list, view), added: [] }
    }
  }
}

/**
 * Root fields whose values differ. An update keeps untouched values as the same objects, so
 * comparing references is enough.
 */
function* changedFields(before: JsonObject, after: JsonObject) {
  return {
    before: yield* fieldsThatDiffer(before, after),
    after: yield* fieldsThatDiffer(after, before),
  }
}

function* fieldsThatDiffer(fields: JsonObject, others: JsonObject): Steps<JsonObject> {
  const pace = new Pace()
  const different: JsonObject = new Map()
  for (const [name, value] of fields) {
    if (pace.isDue()) yield
    if (others.get(name) !== value) different.set(name, value)
  }
  return different
}

function* entriesOf(
  record: JsonObject,
  list: EntryList,
  view: RecordView,
): Steps<readonly Entry[]> {
  const start = list.entries.length
  const rest = list.addDocumentInSteps(yield* view.indexedInSteps(record))
  if (rest !== undefined) yield* rest
  return list.entries.slice(start)
}

function recordOf(write: Write): NewRecord | undefined {
  switch (write.kind) {
    case 'insert':
      return write.record
    case 'replace':
      return write.after
    case 'delete':
      return undefined
  }
}

/**
 * New search fields; null removes them; undefined keeps them, or removes them with the document.
 */
function changedSearch(write: Write): SearchColumns | null | undefined {
  switch (write.kind) {
    case 'insert':
      return searchColumns(write.record.search) ?? undefined
    case 'replace':
      return isSameSearch(write.before.search, write.after.search)
        ? undefined
        : searchColumns(write.after.search)
    case 'delete':
      return undefined
  }
}

/**
 * Whether the search fields are certain to be equal: an unchanged vector is the same object as the
 * vector that was read.
 */
function isSameSearch(before: SearchFields | undefined, after: SearchFields): boolean {
  return (
    before !== undefined &&
    before.vector === after.vector &&
    before.vectorize === after.vectorize &&
    before.lexical === after.lexical
  )
}

function searchColumns(search: SearchFields): SearchColumns | null {
  const { form, bytes } = encodeVector(search.vector)
  const vectorize = search.vectorize === undefined ? null : printJson(search.vectorize)
  const lexical = search.lexical === undefined ? null : printJson(search.lexical)
  if (form === vectorForm.absent && vectorize === null && lexical === null) return null
  return { form, vector: bytes, vectorize, lexical }
}

/**
 * Terms of the text that a write stores. Null when the record has no text, or when the text is
 * unchanged, so that the stored terms stay valid.
 */
function termsOf(write: Write, packer: BatchPacker): TermSpan | null {
  const record = recordOf(write)
  const lexical = record?.search.lexical
  if (lexical === undefined || lexical === null || lexical === '') return null
  if (write.kind === 'replace' && write.before.search?.lexical === lexical) return null
  return packer.addTerms(record?.terms?.('$lexical') ?? [])
}
