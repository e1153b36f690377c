/** Replies of commands that change documents. */
import type { Caller } from '../../caller/caller.ts'
import type { ChangedMany, ChangedOne } from '../../collections/change-documents.ts'
import type { Insertion } from '../../collections/insert.ts'
import { show } from '../../collections/records.ts'
import type { Selection } from '../../collections/selection.ts'
import type { ApiError } from '../../errors/api-error.ts'
import type { Projection } from '../../language/projection.ts'
import { showOne } from '../../paging/show-all.ts'
import type { Reply } from '../dispatch/define.ts'
import { flag, lexicalOperator, oneOf, options } from '../dispatch/fields.ts'

/** The reply with counts, and with an error if concurrent writers kept changing a document. */
export function replyUpdated(changed: ChangedOne | ChangedMany): Reply {
  const { matchedCount, changedCount, upsertedId } = changed
  return {
    status: { matchedCount, modifiedCount: changedCount, upsertedId },
    ...errorsOf(changed),
  }
}

export function replyDeleted(changed: ChangedOne | ChangedMany): Reply {
  return { status: { deletedCount: changed.changedCount }, ...errorsOf(changed) }
}

/** Ids of inserted documents, and errors of documents that were not inserted. */
export function replyInserted(insertions: readonly Insertion[]): Reply {
  const done = insertions.filter(({ outcome }) => outcome === 'done')
  return {
    status: { insertedIds: done.map(({ id }) => id!) },
    errors: insertErrors(insertions),
  }
}

export function insertErrors(insertions: readonly Insertion[]): readonly ApiError[] {
  return insertions.flatMap(({ outcome }) => (typeof outcome === 'string' ? [] : [outcome]))
}

/** Adds the document, as it was before or after the change, to a reply. */
export async function withDocument(
  reply: Reply,
  document: ChangedOne['before'],
  projection: Projection,
  caller: Caller,
): Promise<Reply> {
  const text =
    document === undefined ? null : await showOne(show(document, projection), caller)
  return { ...reply, data: { document: text } }
}

/** The reply with the counts and the document, as it was before or after the change. */
export function replyReturned(
  changed: ChangedOne,
  { returnDocument }: { readonly returnDocument: 'before' | 'after' },
  { projection }: Selection,
  caller: Caller,
): Promise<Reply> {
  return withDocument(replyUpdated(changed), changed[returnDocument], projection, caller)
}

/** Options of findOneAndUpdate and findOneAndReplace. */
export const returnOptions = options({
  returnDocument: oneOf(['before', 'after'], 'before'),
  upsert: flag(false),
  lexicalOperator,
})

function errorsOf({ failure }: ChangedOne | ChangedMany) {
  return failure === undefined ? {} : { errors: [failure] }
}
