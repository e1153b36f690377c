/**
 * Revisions: the new document that an update or replacement makes from an existing document, or
 * from none in an upsert.
 */
import type { Caller, Deadline } from '../caller/caller.ts'
import assert from 'node:assert/strict'
import type { NewRecord, SearchFields, StoredRecord } from '../engine/contract.ts'
import { apiError } from '../errors/api-error.ts'
import { copyObject } from '../json/copy-object.ts'
import { parseStoredInSteps } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import { applyUpdate, type Update } from '../language/updates/update.ts'
import { equalityDocument } from '../language/updates/upsert.ts'
import type { Decide } from './change.ts'
import { idKey } from '../language/values/record-id.ts'
import { checkId } from './ids.ts'
import { andThen, inTurns } from '../runtime/steps.ts'
import { makeRecord } from './records.ts'
import {
  areSameSearchFields,
  attach,
  type Attached,
  type DocumentSource,
} from './search-fields.ts'
import {
  checkNotBoth,
  embedTexts,
  hasMeaning,
  keepEmbedding,
  cachingEmbedder,
} from './vectorize.ts'

/** A change of documents by an update or replacement. It needs records with their search fields. */
export interface Revision {
  /**
   * Embeds texts in advance, which can take seconds or fail; present if the revision may embed.
   * Called with the found records while no lock is held; `decide` then needs no embedding
   * request.
   */
  readonly prepare: ((found: readonly StoredRecord[]) => Promise<void>) | undefined
  readonly decide: Decide
  /** The record that an upsert inserts. */
  create(): Promise<NewRecord>
}

type Store = DocumentSource

export function updating(
  update: Update,
  filter: Filter,
  plainStore: Store,
  caller: Caller,
): Revision {
  const store = storeFor(plainStore, caller)
  const text = update.actions.find(({ path }) => path.text === '$vectorize')
  const apply = (document: JsonObject, inserting: boolean) => {
    const context = { inserting, nowMs: Date.now(), limits: store.limits }
    return inTurns(applyUpdate(update, document, context), caller)
  }
  return {
    prepare:
      text && 'value' in text
        ? (found) =>
            embedAhead(
              text.operator === '$set' ? text.value : undefined,
              found,
              store,
              caller,
            )
        : undefined,

    decide: (record) =>
      andThen(open(record, caller), ({ before, beforeDocument }) =>
        andThen(apply(before.document, false), ({ document, changed }) => {
          if (!changed) return { kind: 'keep' }
          return andThen(remake(before, document, store, caller), (after) => {
            return { kind: 'replace', beforeDocument, after }
          })
        }),
      ),

    async create() {
      const { document } = await apply(equalityDocument(filter), true)
      const [whole] = await embedTexts([document], store, caller)
      return inTurns(makeRecord(whole!, store), caller)
    },
  }
}

export function replacing(
  replacement: JsonObject,
  filter: Filter,
  plainStore: Store,
  caller: Caller,
): Revision {
  const store = storeFor(plainStore, caller)
  checkNotBoth(replacement, 'The replacement')
  const givenId = replacement.get('_id')
  if (givenId !== undefined) checkId(givenId)
  return {
    prepare: replacement.has('$vectorize')
      ? (found) => embedAhead(replacement.get('$vectorize'), found, store, caller)
      : undefined,

    async decide(record) {
      checkSameId(record.id, givenId)
      const { before, beforeDocument } = await open(record, caller)
      const id = new Map([['_id', record.id]])
      const copying = inTurns(copyObject(replacement, id), caller)
      const document = (copying instanceof Promise ? await copying : copying).set(
        '_id',
        record.id,
      )
      const after = await remake(before, document, store, caller)
      const same =
        after.text === record.text && areSameSearchFields(after.search, before.search)
      return same ? { kind: 'keep' } : { kind: 'replace', beforeDocument, after }
    },

    async create() {
      const wanted = pinnedId(filter)
      if (wanted !== undefined) checkSameId(wanted, givenId)
      const id = givenId === undefined ? wanted : givenId
      const document =
        id === undefined
          ? replacement
          : (await inTurns(copyObject(replacement), caller)).set('_id', id)
      const [whole] = await embedTexts([document], store, caller)
      return inTurns(makeRecord(whole!, store), caller)
    },
  }
}

export const deleting: Decide = () => ({ kind: 'delete' })

/** The _id that the filter requires; undefined when it does not require a single one. */
export function pinnedId(filter: Filter): Value | undefined {
  for (const part of filter.kind === 'and' ? filter.of : [filter])
    if (part.kind === 'eq' && part.path.text === '_id') return part.value
  return undefined
}

function open({ text, search }: StoredRecord, deadline: Deadline) {
  assert(search, 'a record without its search fields would lose them when rewritten')
  return inTurns(openInSteps(text, search), deadline)
}

function* openInSteps(text: string, search: SearchFields) {
  const beforeDocument = (yield* parseStoredInSteps(text)) as JsonObject
  return { beforeDocument, before: yield* attach(beforeDocument, search) }
}

/**
 * The store for one revision: it embeds a text at most once, and charges the analysis of texts
 * to the caller.
 */
function storeFor(store: Store, caller: Caller): Store {
  const { embedder, analyzer } = store
  if (embedder === undefined && analyzer === undefined) return store
  const remembering = embedder && cachingEmbedder(embedder)
  return { ...store, embedder: remembering, analysis: caller.analysis }
}

/**
 * Embeds the text unless all records already have it. An invalid text is ignored here and
 * rejected by `decide`.
 */
async function embedAhead(
  text: Value | undefined,
  found: readonly StoredRecord[],
  { embedder }: Store,
  caller: Caller,
): Promise<void> {
  if (embedder === undefined || !hasMeaning(text)) return
  if (found.some(({ search }) => search?.vectorize !== text))
    await embedder.embed([text], 'index', caller)
}

function remake(
  before: Attached,
  document: JsonObject,
  store: Store,
  caller: Caller,
): NewRecord | Promise<NewRecord> {
  return andThen(inTurns(keepEmbedding(before.document, document), caller), (kept) =>
    andThen(embedTexts([kept], store, caller), ([whole]) =>
      andThen(store.analysis?.nextText(), () =>
        inTurns(makeRecord(whole!, store, before), caller),
      ),
    ),
  )
}

function checkSameId(found: Value, given: Value | undefined): void {
  if (given === undefined || idKey(found) === idKey(given)) return
  throw apiError('DOCUMENT_REPLACE_DIFFERENT_DOCID', {
    found: printJson(found),
    given: printJson(given),
  })
}
