/** Reads one page of documents for the console, which may take several requests to the API. */
import { command, type ApiProblem, type TraceDetail } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { valueAt, type JsonObject, type Printable, type Value } from '../json/value.ts'

export interface FindFields {
  readonly filter?: Value
  readonly sort?: Value
  readonly projection?: Value
  readonly options?: JsonObject
  /** Restricts the find to these ids; pages follow the order of the list. */
  readonly ids?: readonly Value[]
}

export interface FoundPage {
  readonly documents: readonly JsonObject[]
  /** Page state of the next page; null after the last one. */
  readonly next: string | null
  readonly warnings: readonly ApiProblem[]
  readonly elapsedMs: number
  /** The status of the first reply. */
  readonly status: Readonly<Record<string, unknown>>
  readonly sent: string
}

/**
 * Characters after which a page ends early. This bounds memory, because a document may have 4 MB.
 */
const charactersMax = 12_000_000

export interface FindPageOptions {
  readonly pageSize: number
  readonly pageState?: string | null
  readonly trace?: TraceDetail | undefined
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Maximum number of ids per request. The API returns the documents of all ids in one reply, however
 * large they are.
 */
const idsMax = 20

export async function findPage(
  place: Place,
  { ids, ...clauses }: FindFields,
  { pageSize, pageState = null, ...options }: FindPageOptions,
): Promise<FoundPage> {
  const documents: JsonObject[] = []
  let next = pageState
  let elapsedMs = 0
  let characters = 0
  let first: Pick<FoundPage, 'status' | 'sent' | 'warnings'> | undefined
  do {
    const from = Number(next)
    const end = from + Math.min(idsMax, pageSize - documents.length)
    const body =
      ids === undefined
        ? fieldsWith(clauses, next)
        : fieldsWith(among(clauses, ids.slice(from, end)), null)
    const reply = await command(place, 'find', body, options)
    documents.push(...reply.documents)
    elapsedMs += reply.elapsedMs
    characters += reply.received.length
    const { status, sent, warnings } = reply
    first ??= { status, sent, warnings }
    next = ids === undefined ? pageStateOf(reply.exact) : stateAfter(ids, end)
  } while (next !== null && documents.length < pageSize && characters < charactersMax)
  return { documents, next, elapsedMs, ...first }
}

function among({ filter, ...clauses }: FindFields, ids: readonly Value[]): FindFields {
  const wanted: JsonObject = new Map([['_id', new Map([['$in', [...ids]]])]])
  return {
    ...clauses,
    filter: filter === undefined ? wanted : new Map([['$and', [filter, wanted]]]),
  }
}

/** Page state for a list of ids: the position of the next id; null after the last id. */
function stateAfter(ids: readonly Value[], end: number): string | null {
  return end < ids.length ? String(end) : null
}

function pageStateOf(reply: JsonObject): string | null {
  const state = valueAt(reply, ['data', 'nextPageState'])
  return typeof state === 'string' ? state : null
}

function fieldsWith(fields: FindFields, pageState: string | null): Printable {
  const options = new Map<string, Printable>(fields.options ?? [])
  if (pageState !== null) options.set('pageState', pageState)
  return {
    filter: fields.filter,
    sort: fields.sort,
    projection: fields.projection,
    options: options.size === 0 ? undefined : options,
  }
}
