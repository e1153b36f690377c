/** Counts the documents that have a searchable text, by our own term index. */
import type { types } from 'cassandra-driver'
import type { Caller } from '../../../caller/caller.ts'
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import type { Collection } from '../../contract.ts'
import { digestOf, type ClusterPostings } from '../lexical/postings.ts'
import { Scan } from '../system/read-limits.ts'
import { textIn, textPlace } from './document-texts.ts'
import { readByTextKeys, tooMuch, type DocumentAccess } from './read-documents.ts'
import { readInTurns } from './stored-text.ts'

/**
 * Whether the filter only requires that a document has a text: a match without terms is true for
 * every text.
 */
export function isTextAlone(filter: Filter): boolean {
  const [first, ...others] = flatten(filter)
  return others.length === 0 && first?.kind === 'match' && first.terms.length === 0
}

/** Number of texts whose documents are read concurrently. */
const textsAtATime = 16

/**
 * Counts documents that have a text, up to `stopAt`. Reads each document that the index lists,
 * because entries may be stale; an empty index costs no reads of documents.
 */
export async function countTexts(
  { session, limits }: DocumentAccess,
  postings: ClusterPostings,
  collection: Collection,
  stopAt: number,
  caller: Caller,
): Promise<number> {
  const place = textPlace(collection)
  const scan = new Scan()
  let count = 0
  let texts: { readonly key: string; readonly digest: string }[] = []
  const countSome = async () => {
    const keys = texts.map(({ key }) => key)
    const rows = await readByTextKeys(session, collection, keys)
    for (const [at, row] of rows.entries())
      if (await hasText(row, texts[at]!.digest, caller)) count++
    texts = []
  }
  const truncatedAt = await postings.truncatedAt(place)
  const atATime = Math.min(stopAt, textsAtATime)
  for await (const text of postings.texts(place, truncatedAt, atATime)) {
    caller.check()
    if (!scan.takeOne(limits)) throw tooMuch(collection, limits)
    if (texts.push(text) === atATime) await countSome()
    if (count >= stopAt) return stopAt
  }
  await countSome()
  return Math.min(count, stopAt)
}

/** Whether the document still has the text. The index may contain its older texts. */
async function hasText(
  row: types.Row | undefined,
  digest: string,
  caller: Caller,
): Promise<boolean> {
  const stored = (row?.['doc_json'] ?? null) as string | null
  if (stored === null) return false
  const text = textIn(await readInTurns(stored, caller))
  return text !== undefined && digestOf(text) === digest
}
