/**
 * What is said of a table that CQL has no place for: the services of its vector columns, and
 * of indexes what their options cannot hold.
 *
 * Where a table keeps extensions, those of other servers of the Data API hold the services,
 * and index options hold the rest. Elsewhere all of it is in the comment of the table, beside
 * whatever else that says.
 */
import type { EmbeddingService, TableIndex } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { quoteText } from '../cluster/statement.ts'

export interface TableNotes {
  /** By the names of their columns. */
  readonly services: ReadonlyMap<string, EmbeddingService>
  /** By the names of indexes. */
  readonly indexes: ReadonlyMap<string, IndexNote>
}

/** Of a vector index its model, or the whole of a text index that the cluster cannot have. */
export type IndexNote =
  { readonly sourceModel: string } | { readonly column: string; readonly analyzer: unknown }

/** Where notes are, as system_schema.tables has it. */
export interface NoteSource {
  readonly comment: string | null
  readonly extensions: ReadonlyMap<string, Buffer> | null
}

export const noNotes: TableNotes = { services: new Map(), indexes: new Map() }

/** The options of a table that make it hold the notes, as a definition writes them. */
export function printNotes(
  notes: TableNotes,
  source: NoteSource,
  can: Pick<Capabilities, 'extensions'>,
): string {
  if (!can.extensions) return `comment = ${quoteText(commentWith(notes, source.comment))}`
  const extensions = new Map([
    ...(source.extensions ?? []),
    ...Object.entries(ownExtensions).map(
      ([name, text]) => [name, Buffer.from(text)] as const,
    ),
  ])
  if (notes.services.size === 0) extensions.delete(servicesExtension)
  else extensions.set(servicesExtension, Buffer.from(servicesText(notes)))
  const entries = Array.from(
    extensions,
    ([name, content]) => `${quoteText(name)}: '0x${content.toString('hex')}'`,
  )
  return `extensions = {${entries.join(', ')}}`
}

export function readNotes({ comment, extensions }: NoteSource): TableNotes {
  const noted = objectIn(parse(comment)[noteKey])
  const stored = extensions?.get(servicesExtension)?.toString()
  const services = stored === undefined ? objectIn(noted['vectorize']) : parse(stored)
  return {
    services: new Map(
      Object.entries(services).flatMap(([column, service]) => readService(column, service)),
    ),
    indexes: new Map(
      Object.entries(objectIn(noted['indexes'])).flatMap(([name, note]) =>
        readIndexNote(name, note),
      ),
    ),
  }
}

/** What an index needs that its options do not hold; undefined: nothing. */
export function noteOf(index: TableIndex, can: Capabilities): IndexNote | undefined {
  if (index.kind === 'vector' && !can.sourceModel && index.sourceModel !== 'other')
    return { sourceModel: index.sourceModel }
  if (index.kind === 'text' && !can.indexAnalyzer)
    return { column: index.column, analyzer: index.analyzer }
  return undefined
}

const noteKey = 'data-api'

const servicesExtension = 'com.datastax.data-api.vectorize-config'

/** What other servers know a table of the Data API by. */
const ownExtensions = {
  'com.datastax.data-api.schema-type': 'table',
  'com.datastax.data-api.schema-def-version': '1',
}

function servicesText({ services }: TableNotes): string {
  const written = Array.from(services, ([column, service]) => {
    const { provider, modelName, authentication = null, parameters = null } = service
    return [column, { provider, modelName, authentication, parameters }] as const
  })
  return JSON.stringify(Object.fromEntries(written))
}

/** A comment that is no object of JSON was written by people, and is kept. */
function commentWith({ services, indexes }: TableNotes, before: string | null): string {
  const said = Object.entries(parse(before))
  const others = Object.fromEntries(said.filter(([name]) => name !== noteKey))
  const text = before?.trim() ?? ''
  const isFree = text !== '' && said.length === 0
  const notes = {
    ...(services.size > 0 && { vectorize: Object.fromEntries(services) }),
    ...(indexes.size > 0 && { indexes: Object.fromEntries(indexes) }),
  }
  if (Object.keys(notes).length === 0 && Object.keys(others).length === 0)
    return isFree ? text : ''
  return JSON.stringify({ ...(isFree && { comment: text }), ...others, [noteKey]: notes })
}

function readService(column: string, stored: unknown): [string, EmbeddingService][] {
  const { provider, modelName, authentication, parameters } = objectIn(stored)
  if (typeof provider !== 'string' || typeof modelName !== 'string') return []
  const service = {
    provider,
    modelName,
    ...(isFilled(authentication) && {
      authentication: authentication as Record<string, string>,
    }),
    ...(isFilled(parameters) && { parameters }),
  }
  return [[column, service]]
}

/** None where others have written something else there. */
function readIndexNote(name: string, stored: unknown): [string, IndexNote][] {
  const { column, analyzer, sourceModel } = objectIn(stored)
  if (typeof sourceModel === 'string') return [[name, { sourceModel }]]
  const isAnalyzer = typeof analyzer === 'string' || isFilled(analyzer)
  return typeof column === 'string' && isAnalyzer ? [[name, { column, analyzer }]] : []
}

function isFilled(value: unknown): value is Record<string, unknown> {
  return Object.keys(objectIn(value)).length > 0
}

/** An empty object for what is no object of JSON. */
function parse(text: string | null): Record<string, unknown> {
  try {
    return objectIn(JSON.parse(text ?? ''))
  } catch {
    return {}
  }
}

function objectIn(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : {}
}
