/** What a command is. commands/dispatch/registry.ts lists them; http runs them. */
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

/** The path that a command is sent to: /v1, /v1/<keyspace> or /v1/<keyspace>/<name>. */
export type CommandLevel = 'general' | 'keyspace' | 'target'

/** What every command gets to work with. */
export interface Context {
  /** The keyspaces of one database. */
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Models
  /** Keys for providers that came with the request. */
  readonly credentials: ProviderCredentials
  readonly features: Features
  /** Whether the one who asks may do that there. */
  readonly may: (effect: Effect, place: { keyspace: string; target?: string }) => boolean
  /** Who waits for the answer, and for how long. */
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

/** What is switched on, by the server's settings and the request's Feature-Flag headers. */
export interface Features {
  readonly lexical: boolean
  readonly reranking: boolean
  readonly vectorize: boolean
  /** Whether indexed columns must have names in snake case. */
  readonly snakeCaseIndexes: boolean
  /** What a document needs to be found by a hybrid search. */
  readonly hybridEligibility: HybridEligibility
}

/**
 * What a command answers. `document` is a JSON text and `documents` are several with commas
 * between them, so that stored texts reach the client unparsed; many are kept in parts. Absent
 * members are left out of the body.
 */
export interface Reply {
  readonly data?:
    | { readonly documents: LongText; readonly nextPageState: string | null }
    | { readonly document: string | null }
  readonly status?: Readonly<Record<string, Value | undefined>>
  /** A list in the status that may be long: JSON texts with commas between them. */
  readonly listed?: { readonly name: string; readonly elements: LongText }
  readonly errors?: readonly ApiError[]
  readonly warnings?: readonly ApiError[]
  /** Whether a schema command changed the schema. Not part of the reply. */
  readonly changed?: boolean
}

interface Common<Shape extends Fields> {
  readonly does: Effect
  /** Whether it acts on what its field `name` names, in what the path names. */
  readonly onNamed?: true
  /** The command's fields: their JSON types, defaults and bounds. */
  readonly fields: Shape
}

/** The values that a command's fields were read into. */
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

/** A command on a collection or a table; one member for each that has it. */
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
