/**
 * The Model Context Protocol: commands of the API as tools of assistants.
 *
 * The transport is Streamable HTTP with one message per request. The server keeps no state between
 * requests, so the first message may be a tool call. It returns a session id only because some
 * clients require one.
 */
import { randomUUID } from 'node:crypto'
import { ApiError, apiError } from '../errors/api-error.ts'
import type { Reply } from '../commands/dispatch/define.ts'
import type { Answer, Protocol, WrappedCall } from '../http/protocol.ts'
import { printParts } from '../http/reply.ts'
import type { LongText } from '../json/long-text.ts'
import { printJson } from '../json/print.ts'
import { isObject, type JsonObject, type Value } from '../json/value.ts'
import { fixedLimits, type Limits } from '../limits.ts'
import {
  idOf,
  internalError,
  invalidParams,
  invalidRequest,
  joinTexts,
  methodNotFound,
  parseError,
  printError,
  printResult,
  readMessage,
  RpcError,
  type Request,
} from './message.ts'
import { getPrompt, prompts } from './prompts.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import { pageSizes, resultSizeMax } from './result-size.ts'
import { printToolResult, printWithoutData, type PrintedResult } from './tool-result.ts'
import { commandOf, resourceKindOf, tools, type Tool } from './tools.ts'
import { olderVersions, revisionOf, versions, type ProtocolRevision } from './versions.ts'

export interface McpSettings {
  /** Whether tools may be called; undefined: a header of each request decides. */
  readonly enabled: boolean | undefined
  /** Whether results contain text in addition to structured content. */
  readonly text: boolean
}

interface McpServices extends McpSettings {
  /** Version of the server. */
  readonly version: string
  readonly limits: Limits
  /** JSON descriptions of all tools, by name. */
  readonly printTools: () => Promise<ReadonlyMap<string, string>>
}

export function mcpProtocol(
  settings: McpSettings,
  limits: Limits,
  version: string,
): Protocol {
  let printed: Promise<ReadonlyMap<string, string>> | undefined
  const printTools = () => (printed ??= describe(limits))
  const services = { ...settings, version, limits, printTools }
  return { answer: (call) => answer(call, services) }
}

/**
 * Descriptions of all tools. The module that contains them is imported lazily: most servers never
 * need it and start faster without it.
 */
async function describe(limits: Limits): Promise<ReadonlyMap<string, string>> {
  const { describeTools } = await import('./tool-descriptions.ts')
  return new Map(describeTools(limits).map((tool) => [tool.name, JSON.stringify(tool)]))
}

async function answer(call: WrappedCall, services: McpServices): Promise<Answer> {
  let id: string | undefined
  try {
    const parsed = call.parseBody()
    const body = parsed instanceof Promise ? await parsed : parsed
    id = idOf(body)
    checkAccept(call)
    const message = readMessage(body)
    if (message.kind !== 'request') return { status: 202, body: '' }
    return await answerRequest(message, call, services)
  } catch (failure) {
    const error = explain(failure, call)
    return { status: error.status, body: printError(error, id) }
  }
}

/** Throws if the client does not accept JSON: the server does not send event streams. */
function checkAccept({ headers }: WrappedCall): void {
  const accept = headers['accept']
  if (typeof accept !== 'string' || takesJson.test(accept)) return
  throw new RpcError(
    invalidRequest,
    'Replies have the type application/json, which the Accept header excludes.',
    406,
  )
}

const takesJson = /(?:^|,)\s*(?:application\/(?:json|\*)|\*\/\*)\s*(?:[;,]|$)/i

/** Converts a thrown error to an error of the protocol. */
function explain(failure: unknown, { log, requestId }: WrappedCall): RpcError {
  if (failure instanceof RpcError) return failure
  if (failure instanceof ApiError) {
    const { code, message, family, status } = failure
    const { errors } = printParts({ errors: [failure] })
    const data = `{"errors":${errors!}}`
    if (family === 'SERVER')
      return new RpcError(internalError, message, status === 200 ? 500 : status, data)
    return code === 'REQUEST_NOT_JSON' || code === 'COMMAND_FIELD_VALUE_INVALID'
      ? new RpcError(parseError, message, 400, data)
      : new RpcError(invalidRequest, message, status === 200 ? 400 : status, data)
  }
  // An aborted request is not a bug, and its reply is not sent.
  if (!(failure instanceof DOMException))
    log.error(
      { err: failure, requestId },
      'An MCP message could not be processed because of a bug in the server',
    )
  return new RpcError(internalError, 'Internal error. See the server log for details.', 500)
}

async function answerRequest(
  request: Request,
  call: WrappedCall,
  services: McpServices,
): Promise<Answer> {
  const revision = revisionOf(request, call.headers)
  const { method, params } = request
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (run === undefined || (run.isOlder === true && revision.isSelfContained))
    throw new RpcError(
      methodNotFound,
      `Unknown method ${JSON.stringify(method.slice(0, 100))}.`,
      revision.isSelfContained ? 404 : 200,
    )
  const result = await run.answer(params, { call, services, revision })
  return {
    status: 200,
    body: printResult(request.id, membersOf(result, revision, services)),
    ...(result.headers !== undefined && { headers: result.headers }),
  }
}

interface CacheControl {
  readonly scope: 'public' | 'private'
  readonly ttlMs: number
}

/** Cache directives for results that are the same for all tokens. */
const shared: CacheControl = { scope: 'public', ttlMs: fixedLimits.assistantCacheMs }
/** Cache directives for results that depend on the roles of the token, which rarely change. */
const ofToken: CacheControl = { scope: 'private', ttlMs: fixedLimits.assistantCacheMs }
/** Cache directives for results that depend on stored data. */
const ofData: CacheControl = { scope: 'private', ttlMs: 0 }

interface Result extends PrintedResult {
  /** Cache directives; undefined: not cacheable. */
  readonly cache?: CacheControl
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The members of a result. The current revision requires each result to state its type and server.
 */
function membersOf(
  { members, meta, cache }: Result,
  { isSelfContained }: ProtocolRevision,
  { version }: McpServices,
): LongText {
  if (!isSelfContained)
    return meta === undefined ? members : joinTexts(members, ',"_meta":{', meta, '}')
  const server = `"io.modelcontextprotocol/serverInfo":${printJson(serverInfo(version))}`
  const metadata = meta === undefined || meta === '' ? server : joinTexts(meta, ',', server)
  const kept =
    cache === undefined ? '' : `,"ttlMs":${cache.ttlMs},"cacheScope":"${cache.scope}"`
  return joinTexts(members, `,"resultType":"complete"${kept},"_meta":{`, metadata, '}')
}

function serverInfo(version: string): Value {
  return new Map(Object.entries({ name: 'stela', title: 'Stela', version }))
}

const capabilities: Value = new Map(
  ['tools', 'resources', 'prompts'].map((name) => [name, new Map<string, Value>()]),
)

const instructions =
  'A database of documents and tables. A keyspace contains collections of schemaless ' +
  'documents, and tables of rows with typed columns. List them with findKeyspaces, ' +
  'then findCollections and listTables. Read with find, findOne and findAndRerank. If ' +
  'a command fails, its result has errors; their messages say what to do instead.'

interface MethodContext {
  readonly call: WrappedCall
  readonly services: McpServices
  readonly revision: ProtocolRevision
}

interface Method {
  /** Whether the method exists only in revisions before the current one. */
  readonly isOlder?: boolean
  answer(params: JsonObject, context: MethodContext): Result | Promise<Result>
}

const methods: Readonly<Record<string, Method>> = {
  initialize: { isOlder: true, answer: initialize },
  ping: { isOlder: true, answer: () => ({ members: '' }) },
  'server/discover': { answer: () => discovery },
  'tools/list': {
    async answer(params, { call, services }) {
      refuseCursor(params)
      const printed = await services.printTools()
      const permitted = permittedTools(call).map(({ name }) => printed.get(name)!)
      return { members: `"tools":[${permitted.join()}]`, cache: ofToken }
    },
  },
  'tools/call': { answer: callTool },
  'resources/list': {
    async answer(params, { call, services }) {
      if (!isEnabled(call, services)) throw notEnabled()
      const { resources, nextCursor } = await listResources(params.get('cursor'), call)
      const next = nextCursor === undefined ? {} : { nextCursor }
      return { members: print({ resources, ...next }), cache: ofData }
    },
  },
  'resources/templates/list': {
    answer(params) {
      refuseCursor(params)
      return { members: print({ resourceTemplates }), cache: shared }
    },
  },
  'resources/read': { answer: showResource },
  'prompts/list': {
    answer(params) {
      refuseCursor(params)
      return { members: print({ prompts }), cache: shared }
    },
  },
  'prompts/get': {
    answer: (params) => ({ members: print(Object.fromEntries(getPrompt(params))) }),
  },
}

/** The members of an object as JSON text, without braces. */
function print(members: Readonly<Record<string, Value>>): string {
  return printJson(new Map(Object.entries(members))).slice(1, -1)
}

function initialize(params: JsonObject, { services }: MethodContext): Result {
  const asked = params.get('protocolVersion')
  if (typeof asked !== 'string')
    throw new RpcError(invalidParams, 'initialize requires protocolVersion, a string.')
  // The client may not support the version that is returned here. It then closes the connection.
  const protocolVersion = olderVersions.includes(asked) ? asked : olderVersions[0]!
  return {
    members: print({
      protocolVersion,
      capabilities,
      serverInfo: serverInfo(services.version),
      instructions,
    }),
    headers: { 'Mcp-Session-Id': randomUUID() },
  }
}

const discovery: Result = {
  members: print({ supportedVersions: [...versions], capabilities, instructions }),
  cache: shared,
}

/** Rejects a cursor: these lists have a single page and therefore never return a cursor. */
function refuseCursor(params: JsonObject): void {
  if ((params.get('cursor') ?? null) !== null)
    throw new RpcError(
      invalidParams,
      'The cursor is invalid. Send the nextCursor of the previous page.',
    )
}

async function callTool(
  params: JsonObject,
  { call, services }: MethodContext,
): Promise<Result> {
  const name = params.get('name')
  const tool = typeof name === 'string' ? tools.get(name) : undefined
  if (tool === undefined)
    throw new RpcError(
      invalidParams,
      typeof name === 'string'
        ? `There is no tool ${JSON.stringify(name.slice(0, 100))}.`
        : 'name must be a string, the name of a tool.',
    )
  const given = params.get('arguments') ?? new Map<string, Value>()
  if (!isObject(given))
    throw new RpcError(invalidParams, 'The arguments of a tool must be an object.')
  const sizeMax = resultSizeMax(call.headers)
  for (const pageSize of pageSizes(sizeMax, services.limits)) {
    const form = { withText: services.text, sizeMax, pageSize }
    const reply = await runTool(pageSize)
    const printed = await printToolResult(reply, form, call)
    if (printed !== undefined) return printed
    // A command that changes data must not run a second time to get a shorter page.
    if (tool.command.does !== 'read') return printWithoutData(reply)
  }
  const tooLarge = { errors: [apiError('REPLY_TOO_LARGE', { max: sizeMax })] }
  const form = { withText: services.text, sizeMax: Infinity, pageSize: Infinity }
  return (await printToolResult(tooLarge, form, call))!

  async function runTool(replySizeMax: number): Promise<Reply> {
    try {
      if (!isEnabled(call, services)) throw apiError('MCP_FEATURE_NOT_ENABLED')
      const { place, fields } = commandOf(tool!, given as JsonObject)
      return await call.run(place, tool!.name, fields, replySizeMax)
    } catch (error) {
      // An assistant sees only results. An error that it can correct is therefore a result.
      if (error instanceof ApiError) return { errors: [error] }
      throw error
    }
  }
}

/** Tools whose commands the token may send to at least one resource of the database. */
function permittedTools({ principal, databaseId }: WrappedCall): Tool[] {
  return [...tools.values()].filter(({ command }) =>
    principal.mayAnywhere(command.does, resourceKindOf(command), databaseId),
  )
}

/**
 * Whether MCP is enabled: the setting of the operator decides, or otherwise a header of the
 * request.
 */
function isEnabled({ headers }: WrappedCall, { enabled }: McpServices): boolean {
  return enabled ?? headers['feature-flag-mcp'] !== 'false'
}

/** The error while MCP is disabled, for methods whose results cannot contain errors. */
function notEnabled(): RpcError {
  const error = apiError('MCP_FEATURE_NOT_ENABLED')
  const { errors } = printParts({ errors: [error] })
  return new RpcError(invalidRequest, error.message, 200, `{"errors":${errors!}}`)
}

/** Error code for an unknown resource, in revisions before the current one. */
const resourceNotFound = -32002

async function showResource(
  params: JsonObject,
  { call, services, revision }: MethodContext,
): Promise<Result> {
  const uri = params.get('uri')
  if (typeof uri !== 'string')
    throw new RpcError(invalidParams, 'uri must be a string, the URI of a resource.')
  if (!isEnabled(call, services)) throw notEnabled()
  const text = await readResource(uri, call)
  if (text === undefined)
    throw new RpcError(
      revision.isSelfContained ? invalidParams : resourceNotFound,
      'The resource does not exist, or the token does not permit reading it.',
      200,
      JSON.stringify({ uri: uri.slice(0, 1_000) }),
    )
  const content = new Map(Object.entries({ uri, mimeType: 'application/json', text }))
  return { members: print({ contents: [content] }), cache: ofData }
}
