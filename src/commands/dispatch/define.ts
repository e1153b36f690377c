/** Types that define commands. registry.ts lists all commands; dispatch.ts runs them. */
import type { Caller } from '../../caller/caller.ts'
import type { HybridEligibility } from '../../collections/rerank/rerank-plan.ts'
import type { Effect } from '../../auth/principal.ts'
import type { DocumentStore } from '../../collections/document-store.ts'
import type { RowStore } from '../../tables/row-store.ts'
import type { Engine } from '../../engine/contract.ts'
import type { Explain } from '../../engine/errors.ts'
import type { ApiError } from '../../errors/api-error.ts'
import type { LongText } from '../../json/long-text.ts'
import type { Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { ProviderCredentials, Models } from '../../providers/models.ts'
import type { Fields, Field } from './fields.ts'

/** Level of a command, in this order: its path is /v1, /v1/<keyspace> or /v1/<keyspace>/<name>. */
export type CommandLevel = 'general' | 'keyspace' | 'target'

/** Services that every command receives. */
export interface Context {
  /** The engine, restricted to the keyspaces of one database. */
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Models
  /** Provider keys in the headers of the request. */
  readonly credentials: ProviderCredentials
  readonly features: Features
  /** Whether the principal's roles permit the effect on `place`. */
  readonly may: (effect: Effect, place: { keyspace: string; target?: string }) => boolean
  /** The client that waits for the reply, with its deadline. */
  readonly caller: Caller
  readonly explain: Explain
}

export interface KeyspaceContext extends Context {
  readonly keyspace: string
}

export interface CollectionContext extends KeyspaceContext {
  readonly documents: DocumentStore
}

export interface TableContext extends KeyspaceContext {
  readonly rows: RowStore
}

/** Enabled features, from settings of the server and Feature-Flag headers of the request. */
export interface Features {
  readonly lexical: boolean
  readonly reranking: boolean
  readonly vectorize: boolean
  /** Whether names of indexed columns must be in snake case. */
  readonly snakeCaseIndexes: boolean
  /** Fields that a document needs to be eligible for hybrid search. */
  readonly hybridEligibility: HybridEligibility
}

/**
 * The reply of a command. `document` is one JSON text. `documents` are several JSON texts,
 * separated by commas, so that stored texts reach the client without parsing. Long lists consist of
 * several strings. Undefined members are omitted from the body.
 */
export interface Reply {
  readonly data?:
    | { readonly documents: LongText; readonly nextPageState: string | null }
    | { readonly document: string | null }
  readonly status?: Readonly<Record<string, Value | undefined>>
  /**
   * Name of a status member with a possibly long list, and its elements as JSON texts separated by
   * commas.
   */
  readonly listed?: { readonly name: string; readonly elements: LongText }
  readonly errors?: readonly ApiError[]
  readonly warnings?: readonly ApiError[]
  /** Whether a schema command changed the schema; not part of the body. */
  readonly changed?: boolean
}

interface Common<Shape extends Fields> {
  readonly does: Effect
  /**
   * True if the command acts on the object in its field `name`, instead of the object in the path.
   */
  readonly onNamed?: true
  /** Fields of the command: JSON types, defaults and bounds. */
  readonly fields: Shape
}

/** Parsed values of a command's fields. */
export type FieldValues<Shape extends Fields> = {
  readonly [name in keyof Shape]: Shape[name] extends Field<infer T> ? T : never
}

export interface GeneralCommand<Shape extends Fields = Fields> extends Common<Shape> {
  readonly level: 'general'
  run(fields: FieldValues<Shape>, context: Context): Promise<Reply>
}

export interface KeyspaceCommand<Shape extends Fields = Fields> extends Common<Shape> {
  readonly level: 'keyspace'
  run(fields: FieldValues<Shape>, context: KeyspaceContext): Promise<Reply>
}

/**
 * A command on a collection or a table, with an implementation for each kind that supports it.
 */
export interface TargetCommand<Shape extends Fields = Fields> extends Common<Shape> {
  readonly level: 'target'
  collection?(fields: FieldValues<Shape>, context: CollectionContext): Promise<Reply>
  table?(fields: FieldValues<Shape>, context: TableContext): Promise<Reply>
}

export type Command = GeneralCommand | KeyspaceCommand | TargetCommand

export function defineGeneralCommand<const Shape extends Fields>(
  command: Omit<GeneralCommand<Shape>, 'level'>,
): GeneralCommand {
  return { ...command, level: 'general' } as unknown as GeneralCommand
}

export function defineKeyspaceCommand<const Shape extends Fields>(
  command: Omit<KeyspaceCommand<Shape>, 'level'>,
): KeyspaceCommand {
  return { ...command, level: 'keyspace' } as unknown as KeyspaceCommand
}

export function defineCommand<const Shape extends Fields>(
  command: Omit<TargetCommand<Shape>, 'level'>,
): TargetCommand {
  return { ...command, level: 'target' } as unknown as TargetCommand
}
