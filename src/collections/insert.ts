/**
 * Inserts documents in one write: all valid documents or, if the insert is ordered, those before
 * the first invalid one.
 */
import type { Caller, Deadline } from '../caller/caller.ts'
import type { NewRecord, Outcome, Write } from '../engine/contract.ts'
import { EngineError, rethrow, throwIfAllFailed, type Explain } from '../engine/errors.ts'
import { ApiError, apiError } from '../errors/api-error.ts'
import { printJson } from '../json/print.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../json/value.ts'
import { inTurns, Pace, valueLength, type Steps } from '../runtime/steps.ts'
import { checkId } from './ids.ts'
import { makeRecord } from './records.ts'
import { expandHybrid, type DocumentSource } from './search-fields.ts'
import { checkNotBoth, embedTexts } from './vectorize.ts'

/** The outcome of one document of an insert. */
export interface Insertion {
  /** Undefined when the document was not stored and had no _id. */
  readonly id: Value | undefined
  readonly outcome: 'done' | 'skipped' | ApiError
}

/**
 * Inserts documents. Throws errors of the whole command; errors of single documents are in the
 * result.
 */
export async function insertDocuments(
  store: DocumentSource,
  documents: readonly Value[],
  ordered: boolean,
  caller: Caller,
  explain: Explain = rethrow,
): Promise<readonly Insertion[]> {
  const expanding = inTurns(expandAll(documents), caller)
  const expanded = expanding instanceof Promise ? await expanding : expanding
  expanded.forEach((document, i) => checkNotBoth(document, `Document ${i + 1}`))
  const whole = await embedTexts(expanded, store, caller)

  const charged =
    store.analyzer === undefined ? store : { ...store, analysis: caller.analysis }
  const prepared = await inTurns(prepareAll(documents, whole, charged, caller), caller)
  const outcomes = await write(store, prepared, ordered, caller)
  throwIfAllFailed([...prepared.filter((one) => one instanceof ApiError), ...outcomes])
  return report(documents, prepared, outcomes, ordered, explain)
}

/**
 * Expands $hybrid in all documents. An invalid document becomes an empty one here and is rejected
 * later.
 */
function* expandAll(documents: readonly Value[]): Steps<readonly JsonObject[]> {
  const expanded: JsonObject[] = []
  for (const [i, document] of documents.entries())
    expanded.push(
      !isObject(document)
        ? new Map<string, Value>()
        : document.has('$hybrid')
          ? yield* expandHybrid(document, `document ${i + 1} of ${documents.length}`)
          : document,
    )
  return expanded
}

type Prepared = NewRecord | ApiError

/**
 * Makes the records. `whole` has the documents after $hybrid was expanded and texts were embedded.
 */
function* prepareAll(
  documents: readonly Value[],
  whole: readonly JsonObject[],
  store: DocumentSource,
  deadline: Deadline,
): Steps<readonly Prepared[]> {
  const prepared: Prepared[] = []
  const pace = new Pace()
  for (const [i, document] of documents.entries()) {
    if (pace.isDue()) yield
    store.analysis?.startText()
    try {
      if (!isObject(document))
        throw apiError('SHRED_BAD_DOCUMENT_TYPE', { type: jsonTypeOf(document) })
      const record = yield* makeRecord(whole[i]!, store)
      prepared.push(record)
      pace.spend(workOn(record))
    } catch (error) {
      // A timeout is an error of the command, not of this document.
      deadline.check()
      if (!(error instanceof ApiError)) throw error
      prepared.push(error)
    }
  }
  return prepared
}

/** Estimated cost of making a record, in parsed values. */
function workOn({ text, search }: NewRecord): number {
  const { lexical, vector } = search
  return text.length / valueLength + (lexical?.length ?? 0) + (vector?.numbers.length ?? 0)
}

/** Writes the records; an ordered insert stops before the first invalid document. */
async function write(
  { engine, collection }: DocumentSource,
  prepared: readonly Prepared[],
  ordered: boolean,
  caller: Caller,
): Promise<readonly Outcome[]> {
  const failed = prepared.findIndex((record) => record instanceof ApiError)
  const attempted = ordered && failed >= 0 ? prepared.slice(0, failed) : prepared
  const writes = attempted.flatMap((record): Write[] =>
    record instanceof ApiError ? [] : [{ kind: 'insert', record }],
  )
  if (writes.length === 0) return []
  return engine.write(collection, writes, { ordered, caller })
}

/**
 * Combines errors and outcomes by document. `outcomes` has no entries for invalid documents,
 * nor for documents that were not attempted.
 */
function report(
  documents: readonly Value[],
  prepared: readonly Prepared[],
  outcomes: readonly Outcome[],
  ordered: boolean,
  explain: Explain,
): readonly Insertion[] {
  let next = 0
  let stopped = false
  return prepared.map((record, i): Insertion => {
    const given = givenId(documents[i]!)
    if (stopped) return { id: given, outcome: 'skipped' }
    const outcome = record instanceof ApiError ? record : outcomes[next++]
    if (!(record instanceof ApiError) && outcome === 'done')
      return { id: record.id, outcome: 'done' }
    stopped = ordered
    const error =
      record instanceof ApiError
        ? record
        : outcome instanceof EngineError
          ? explain(outcome)
          : apiError('DOCUMENT_ALREADY_EXISTS', { id: printJson(record.id) })
    if (given !== undefined) error.documentIds = [given]
    return { id: given, outcome: error }
  })
}

/** The _id in the request, if it is a valid one. */
function givenId(document: Value): Value | undefined {
  const id = isObject(document) ? document.get('_id') : undefined
  if (id === undefined) return undefined
  try {
    checkId(id)
    return id
  } catch {
    return undefined
  }
}
