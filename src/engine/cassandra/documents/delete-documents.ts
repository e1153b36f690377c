/** Deletes all documents of a collection one by one, because TRUNCATE needs all nodes. */
import type { Caller } from '../../../caller/caller.ts'
import type { Collection, Position, Write } from '../../contract.ts'
import { readDocuments, type DocumentAccess } from './read-documents.ts'
import { writeDocuments } from './write-documents.ts'

/** Number of documents per page. */
const atATime = 100

/** Deletes all documents of a collection. A document that is changed concurrently may remain. */
export async function deleteDocuments(
  access: DocumentAccess,
  collection: Collection,
  caller: Caller,
): Promise<void> {
  const query = { filter: everything, sort: [], skip: 0, limit: atATime, stable: false }
  let after: Position | undefined
  do {
    const page = await readDocuments(
      access,
      collection,
      { ...query, after, withSearchFields: false },
      caller,
    )
    const deletes = page.records.map((before): Write => ({ kind: 'delete', before }))
    await writeDocuments(access, collection, deletes, { caller })
    after = page.next
  } while (after !== undefined)
}

const everything = { kind: 'and', of: [] } as const
