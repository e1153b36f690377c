/**
 * Runs one command, from its JSON to its reply.
 *
 * Checks run in the order of this file, and the first failure is the reply, so a request with
 * several mistakes always gets the same error.
 */
import type { Caller } from '../../caller/caller.ts'
import type { Audit } from '../../auth/audit.ts'
import type { Resource } from '../../auth/policy.ts'
import type { Effect, Principal } from '../../auth/principal.ts'
import { TokenCredentials } from '../../auth/tokens.ts'
import type { Database } from '../../databases/databases.ts'
import { documentStoreOf, type DocumentStore } from '../../collections/document-store.ts'
import type { Engine } from '../../engine/contract.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Target } from '../../engine/schema.ts'
import { traced } from '../../engine/traced.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { ProviderCredentials, Models } from '../../providers/models.ts'
import type { DocumentTurns } from '../../collections/document-turns.ts'
import type { LexicalOperator } from '../../language/sorts/sort.ts'
import { rowStoreOf, type RowStore } from '../../tables/row-store.ts'
import { loadAnalyzers } from '../../paging/load-analyzers.ts'
import { pathOf } from './command-path.ts'
import type { TargetStores } from './target-stores.ts'
import type {
  CollectionContext,
  Command,
  Context,
  Features,
  KeyspaceCommand,
  KeyspaceContext,
  CommandLevel,
  Reply,
  TableContext,
  TargetCommand,
} from './define.ts'
import {
  explainFailure,
  explainHere,
  nameOf,
  unauthorizedError,
  unknownTarget,
  type Log,
} from './failures.ts'
import { readFields } from './fields.ts'
import { collectionCommands, commandsAt, deprecated, tableCommands } from './registry.ts'
import { showCommand, type Trace } from './trace.ts'
import { tracedModels } from './traced-models.ts'

/** A request for commands, independent of HTTP. */
export interface Call extends Caller {
  readonly database: Database
  /** Prefix of the path, before the names: /v1, /api/json/v1 or /databases/<id>/v1. */
  readonly root: string
  readonly level: CommandLevel
  /** Name in the path; empty if the path has none. */
  readonly keyspace: string
  readonly target: string
  /** Id of the request in logs. */
  readonly requestId: string
  readonly address: string
  /** Name of the command; dispatch sets it after finding the command. */
  command: string | undefined
  /**
   * Throws an ApiError when the body is invalid JSON. Large bodies are parsed in several turns.
   */
  parseBody(): Value | Promise<Value>
  /** The authenticated principal. */
  readonly principal: Principal
  /** The token of the request; only the engine uses it. */
  readonly token: string
  /**
   * Reserves memory for the reply before the command runs. A write that succeeds can then always be
   * acknowledged. Returns a promise when it has to wait; the promise rejects at the deadline.
   */
  reserveReply(effect: Effect): Promise<void> | undefined
  readonly features: Features
  readonly credentials: ProviderCredentials
  /** Undefined if tracing is off. */
  readonly trace: Trace | undefined
}

/** Services with the lifetime of the server, shared by all commands. */
export interface Services {
  readonly limits: Limits
  readonly models: Models
  readonly log: Log
  readonly audit: Audit
  readonly documentTurns: DocumentTurns
  /** Default operator of sorts by terms. */
  readonly lexicalOperator: LexicalOperator
  readonly stores: TargetStores
}

/** Runs a command. Never rejects: failures become errors of the reply. */
export function dispatch(call: Call, services: Services): Promise<Reply> {
  const { trace } = call
  return trace === undefined ? answer(call, services) : answerTraced(call, trace, services)
}

async function answerTraced(call: Call, trace: Trace, services: Services): Promise<Reply> {
  const models = tracedModels(services.models, trace)
  const reply = await answer(call, { ...services, models })
  for (const { code } of reply.errors ?? []) trace.note(`Answered with ${code}`)
  return { ...reply, status: { ...reply.status, trace: trace.show() } }
}

async function answer(call: Call, services: Services): Promise<Reply> {
  const { trace } = call
  const context = {
    keyspace: call.keyspace,
    target: call.target,
    command: undefined as string | undefined,
    does: undefined as Effect | undefined,
    fields: undefined as JsonObject | undefined,
  }
  let warnings = none
  try {
    const parsed = call.parseBody()
    const [name, value] = onlyCommand(parsed instanceof Promise ? await parsed : parsed)
    const command = findCommand(name, call)
    call.command = context.command = name
    context.does = command.does
    warnings = deprecationOf(name)
    trace?.note(`Received the command ${name}`, () => ({
      command: showCommand(name, value),
    }))
    if (!isObject(value))
      throw apiError('REQUEST_STRUCTURE_MISMATCH', {
        reason: 'commandType',
        command: name,
        type: jsonTypeOf(value),
      })
    context.fields = value
    const fields = readFields(name, command.fields, value, services.limits)
    trace?.note('Parsed the fields of the command')
    const resource = resourceOf(call, command, fields)
    const { principal } = call
    authorize(call, command.does, resource, services.audit)
    trace?.note(`Authorized ${principal.name}`, () => ({ principal: principal.name }))
    const waiting = call.reserveReply(command.does)
    if (waiting !== undefined) await waiting
    const reply = await run(name, command, fields, call, principal, services)
    if (reply.changed === true)
      services.audit.changed(
        { kind: 'schema', change: name, what: nameIn(resource) },
        principal,
        askedBy(call, resource),
      )
    return warnings.length === 0
      ? reply
      : { ...reply, warnings: [...warnings, ...(reply.warnings ?? [])] }
  } catch (failure) {
    const log = logOf(call, services.log)
    const errors = await explainFailure(failure, context, () => engineOf(call), log)
    return { errors, warnings }
  }
}

/** A log that adds the request id to each line. */
function logOf({ requestId }: Call, log: Log): Log {
  return { error: (details, message) => log.error({ ...details, requestId }, message) }
}

function onlyCommand(body: Value): [string, Value] {
  if (!isObject(body))
    throw apiError('REQUEST_STRUCTURE_MISMATCH', {
      reason: 'bodyType',
      type: jsonTypeOf(body),
    })
  const [first, second] = body
  if (first === undefined)
    throw apiError('REQUEST_STRUCTURE_MISMATCH', { reason: 'noCommand' })
  if (second !== undefined)
    throw apiError('REQUEST_STRUCTURE_MISMATCH', {
      reason: 'severalCommands',
      keys: body.size,
      names: [...body.keys()].slice(0, 5),
    })
  return first
}

const levelNames: Readonly<Record<CommandLevel, string>> = {
  general: 'General Command',
  keyspace: 'Keyspace Command',
  target: 'Collection Command',
}

function findCommand(name: string, call: Call): Command {
  const { level } = call
  const known = commandsAt[level]
  const command = known.get(name)
  if (command === undefined)
    throw apiError('COMMAND_UNKNOWN', {
      command: name,
      level: levelNames[level],
      path: pathOf(name, call),
      known: [...known.keys()],
    })
  return command
}

const none: readonly ApiError[] = []

function deprecationOf(command: string): readonly ApiError[] {
  const replacement = deprecated.get(command)
  return replacement === undefined
    ? none
    : [apiError('DEPRECATED_COMMAND', { command, replacement })]
}

/** The resource that the command acts on, from the path or from the command's field `name`. */
function resourceOf(
  call: Call,
  command: Command,
  fields: Record<string, unknown>,
): Resource {
  const { database } = call
  const keyspace = call.keyspace || undefined
  const target = call.target || undefined
  if (command.onNamed !== true) return { database: database.id, keyspace, target }
  const named = typeof fields['name'] === 'string' ? fields['name'] : ''
  return command.level === 'general'
    ? { database: database.id, keyspace: named }
    : { database: database.id, keyspace, target: named }
}

function authorize(call: Call, effect: Effect, resource: Resource, audit: Audit): void {
  const { principal } = call
  if (principal.may(effect, resource)) return
  audit.refused('not permitted', askedBy(call, resource), principal)
  throw unauthorizedError(effect, nameIn(resource))
}

function nameIn({ keyspace = '', target = '' }: Resource): string {
  return nameOf({ keyspace, target })
}

function askedBy({ requestId, address, command }: Call, resource: Resource) {
  return { requestId, address, command, resource }
}

function run(
  name: string,
  command: Command,
  fields: Record<string, unknown>,
  call: Call,
  principal: Principal,
  services: Services,
): Promise<Reply> {
  const context = new CallContext(name, command, call, principal, services)
  switch (command.level) {
    case 'general':
      return command.run(fields, context)
    case 'keyspace':
      return runInKeyspace(command, fields, context)
    case 'target':
      return runOnTarget(name, command, fields, call, context, services)
  }
}

async function runInKeyspace(
  command: KeyspaceCommand,
  fields: Record<string, unknown>,
  context: KeyspaceContext,
): Promise<Reply> {
  const { engine, keyspace } = context
  if ((await engine.listTargets(keyspace)) === undefined)
    throw apiError('UNKNOWN_KEYSPACE', { keyspace })
  return command.run(fields, context)
}

function runOnTarget(
  name: string,
  command: TargetCommand,
  fields: Record<string, unknown>,
  call: Call,
  context: CallContext,
  services: Services,
): Promise<Reply> {
  const { engine } = context
  /** The store of the target, from the cache. A traced request gets its own store. */
  const storeOf = <Store>(target: Target, make: () => Store) =>
    call.trace === undefined ? services.stores.of(engine, target, make) : make()
  const run = (target: Target): Promise<Reply> => {
    call.trace?.note(`Found the ${target.kind} ${nameOf(call)}`)
    if (target.kind === 'collection') {
      if (command.collection === undefined)
        throw apiError('UNSUPPORTED_COLLECTION_COMMAND', refusalOf(name, call))
      const make = () => documentStoreOf({ ...services, engine }, target)
      context.documents = storeOf(target, make).as(call)
      const loading = loadAnalyzers(target, call)
      return loading === undefined
        ? command.collection(fields, context)
        : loading.then(() => command.collection!(fields, context))
    }
    if (command.table === undefined)
      throw apiError('UNSUPPORTED_TABLE_COMMAND', refusalOf(name, call))
    const make = () => rowStoreOf({ ...services, engine }, target, {})
    context.rows = storeOf(target, make).as(call)
    const loading = loadAnalyzers(target, call)
    return loading === undefined
      ? command.table(fields, context)
      : loading.then(() => command.table!(fields, context))
  }
  const found = engine.findTarget(call.keyspace, call.target)
  // The schema of a collection never changes, so a command on a collection needs no retry.
  return !(found instanceof Promise) && found?.kind === 'collection'
    ? run(found)
    : runUntilUnchanged(found, run, command, call, context, services)
}

/**
 * The schema of a table may change between the lookup of the table and a read or write. The engine
 * then rejects the operation, and the command starts over. The last attempt locks the schema.
 */
async function runUntilUnchanged(
  found: ReturnType<Engine['findTarget']>,
  run: (target: Target) => Promise<Reply>,
  command: TargetCommand,
  call: Call,
  { engine }: CallContext,
  services: Services,
): Promise<Reply> {
  const attempt = async (lookUp: () => typeof found): Promise<Reply> => {
    const looking = lookUp()
    const target = await looking
    // Several requests can wait for the same reply of a cluster. Without this pause, all of them
    // would continue in the same turn of the event loop.
    if (looking instanceof Promise) await call.pause()
    if (target === undefined) throw await unknownTarget(engine, call.keyspace, call.target)
    return run(target)
  }
  const lookAgain = () => engine.findTarget(call.keyspace, call.target)
  let lookUp = () => found
  for (let left = services.limits.writeAttemptsMax; left > 1; left--)
    try {
      return await attempt(lookUp)
    } catch (error) {
      const isChanged = error instanceof EngineError && error.kind === 'changed'
      // A command that alters the schema cannot run under the schema lock: it would wait for this
      // lock forever.
      if (!isChanged || command.does === 'alter') throw error
      lookUp = lookAgain
    }
  call.trace?.note('Keeps the schema from changing again')
  return engine.lockSchema(call.keyspace, () => attempt(lookAgain), call)
}

function refusalOf(command: string, call: Call) {
  return {
    target: nameOf(call),
    command,
    table: tableCommands,
    collection: collectionCommands,
  }
}

/** The engine of the call's database, with the credentials and the trace of the call. */
function engineOf({ database, token, trace }: Call): Engine {
  const engine = database.engine.as(new TokenCredentials(token))
  return trace === undefined ? engine : traced(engine, trace)
}

class CallContext implements CollectionContext, TableContext {
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Models
  readonly keyspace: string
  /** Either `documents` or `rows` is set before a command on a target runs. */
  documents!: DocumentStore
  rows!: RowStore
  readonly #name: string
  readonly #command: Command
  readonly #call: Call
  readonly #principal: Principal
  readonly #log: Log

  constructor(
    name: string,
    command: Command,
    call: Call,
    principal: Principal,
    services: Services,
  ) {
    this.engine = engineOf(call)
    this.limits = services.limits
    this.models = services.models
    this.keyspace = call.keyspace
    this.#name = name
    this.#command = command
    this.#call = call
    this.#principal = principal
    this.#log = services.log
  }

  /**
   * Checks permissions. Returns a closure, so that commands can destructure it from the context.
   */
  get may(): Context['may'] {
    return (effect, resource) =>
      this.#principal.may(effect, { database: this.#call.database.id, ...resource })
  }

  get explain(): Context['explain'] {
    const { keyspace, target } = this.#call
    const { does } = this.#command
    const context = { keyspace, target, command: this.#name, does, fields: undefined }
    return (failure) => explainHere(failure, context, logOf(this.#call, this.#log))
  }

  get features(): Features {
    return this.#call.features
  }

  get credentials(): ProviderCredentials {
    return this.#call.credentials
  }

  get caller(): Caller {
    return this.#call
  }
}
