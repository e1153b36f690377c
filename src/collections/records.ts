/** Converts documents to records of the engine, and back. */
import type { NewRecord, SearchFields } from '../engine/contract.ts'
import { copyObject } from '../json/copy-object.ts'
import { parseStored, parseStoredInSteps } from '../json/parse.ts'
import { printJson, printJsonInSteps } from '../json/print.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Projection } from '../language/projection.ts'
import type { Shown } from '../paging/show-all.ts'
import { atOnce, type Steps } from '../runtime/steps.ts'
import { checkId, newId } from './ids.ts'
import {
  attachPrinted,
  detach,
  hasSearchFields,
  withTerms,
  type Attached,
  type DocumentSource,
} from './search-fields.ts'
import { checkDocumentInSteps, checkLength } from './validate.ts'

/**
 * Makes the record of a document with search fields. Throws when the document is invalid;
 * generates a missing _id.
 */
export function* makeRecord(
  whole: JsonObject,
  store: DocumentSource,
  before?: Attached,
): Steps<NewRecord> {
  const { limits, collection } = store
  const given = whole.get('_id')
  if (given !== undefined) checkId(given)
  // Without search fields, `detach` is not called: creating its generator would cost more than
  // its work.
  const { document: fields, search } = hasSearchFields(whole)
    ? yield* detach(whole, store, before)
    : { document: whole, search: {} }
  const id = given ?? (given === null ? null : newId(collection.options.defaultId?.type))
  const document = startsWithId(fields)
    ? fields
    : yield* copyObject(fields, new Map([['_id', id]]))
  const checking = checkDocumentInSteps(document, store.indexing, limits)
  if (checking !== undefined) yield* checking
  const printed = printJsonInSteps(document)
  const text = typeof printed === 'string' ? printed : yield* printed
  const beside = (search.vectorize?.length ?? 0) + (search.lexical?.length ?? 0)
  checkLength(text.length + beside, limits)
  return withTerms({ id, text, document, search }, store, before)
}

function startsWithId(document: JsonObject): boolean {
  return document.keys().next().value === '_id'
}

/** A stored document, or one that will be stored. */
export interface Stored {
  readonly text: string
  /** Present if the projection shows search fields. */
  readonly search?: SearchFields
}

/** The document for a reply. Returns steps instead when the document is large. */
export function show(stored: Stored, projection: Projection): Shown {
  if (projection.whole) return stored.text
  if (projection.nothing) return '{}'
  const { text } = stored
  if (text.length > shownAtOnceMax) return { text, steps: showInSteps(stored, projection) }
  return printJson(atOnce(shown(parseStored(text), stored, projection)))
}

/** Documents up to this many characters are shown without pausing, in less than 0.1 ms. */
const shownAtOnceMax = 4_096

function* showInSteps(stored: Stored, projection: Projection): Steps<string> {
  const document = yield* parseStoredInSteps(stored.text)
  const printed = printJsonInSteps(yield* shown(document, stored, projection))
  return typeof printed === 'string' ? printed : yield* printed
}

function* shown(
  parsed: Value,
  { search }: Stored,
  projection: Projection,
): Steps<JsonObject> {
  const document = parsed as JsonObject
  const whole = search === undefined ? document : yield* attachPrinted(document, search)
  const made = projection.apply(whole)
  return made instanceof Map ? made : yield* made
}

/** Whether the projection includes fields that are stored beside the text. */
export function showsSearchFields(projection: Projection): boolean {
  return projection.vector || projection.vectorize || projection.lexical
}
