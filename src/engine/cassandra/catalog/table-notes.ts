/**
 * Metadata of tables that CQL cannot express: embedding services of vector columns and, where index
 * options cannot hold them, properties of indexes. If the cluster supports table extensions, the
 * services are stored in the extension that other Data API servers use, and index options hold the
 * rest. On other clusters, the comment of the table stores both beside its other content.
 */
import type { EmbeddingService, TableIndex } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { quoteText } from '../cluster/statement.ts'

export interface TableNotes {
  /** Embedding services by column name. */
  readonly services: ReadonlyMap<string, EmbeddingService>
  /** Properties of indexes, by index name. */
  readonly indexes: ReadonlyMap<string, IndexNote>
}

/**
 * The source model of a vector index, or the definition of a text index that the cluster does not
 * support.
 */
export type IndexNote =
  { readonly sourceModel: string } | { readonly column: string; readonly analyzer: unknown }

/** The columns of system_schema.tables that contain notes. */
export interface NoteSource {
  readonly comment: string | null
  readonly extensions: ReadonlyMap<string, Buffer> | null
}

export const noNotes: TableNotes = { services: new Map(), indexes: new Map() }

/** The table property that stores the notes, for the WITH clause of a statement. */
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

/**
 * Properties of an index that its options cannot hold; undefined if the options hold everything.
 */
export function noteOf(index: TableIndex, can: Capabilities): IndexNote | undefined {
  if (index.kind === 'vector' && !can.sourceModel && index.sourceModel !== 'other')
    return { sourceModel: index.sourceModel }
  if (index.kind === 'text' && !can.indexAnalyzer)
    return { column: index.column, analyzer: index.analyzer }
  return undefined
}

const noteKey = 'data-api'

const servicesExtension = 'com.datastax.data-api.vectorize-config'

/** Extensions by which other Data API servers recognize a table of the Data API. */
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

/**
 * Adds the notes to the comment of a table, as a field of a JSON object. A comment that is already
 * a JSON object keeps its other fields; free text moves to the field `comment`.
 */
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

/**
 * Reads the note of an index from its stored form, and returns it with the index name. Returns an
 * empty list if the stored form is invalid, which can happen if other software wrote it.
 */
function readIndexNote(name: string, stored: unknown): [string, IndexNote][] {
  const { column, analyzer, sourceModel } = objectIn(stored)
  if (typeof sourceModel === 'string') return [[name, { sourceModel }]]
  const isAnalyzer = typeof analyzer === 'string' || isFilled(analyzer)
  return typeof column === 'string' && isAnalyzer ? [[name, { column, analyzer }]] : []
}

function isFilled(value: unknown): value is Record<string, unknown> {
  return Object.keys(objectIn(value)).length > 0
}

/** Parses a JSON object; returns an empty object for any other text. */
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
