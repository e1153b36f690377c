/**
 * Resources describe the database to assistants: keyspaces, their definitions, and sample documents
 * or rows. Commands of the API read them with the token of the request, so resources contain only
 * objects that the token may see.
 */
import type { Reply } from '../commands/dispatch/define.ts'
import type { CommandPlace, WrappedCall } from '../http/protocol.ts'
import { lengthOf, printParts } from '../http/reply.ts'
import { wholeText } from '../json/long-text.ts'
import { parseStored, parseStoredInSteps } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import { isObject, type JsonObject, type Value } from '../json/value.ts'
import { fixedLimits } from '../limits.ts'
import { inTurns } from '../runtime/steps.ts'
import { internalError, invalidParams, RpcError } from './message.ts'
import { shorten } from './sample-document.ts'

const root = 'stela://keyspaces'

const {
  resourcesPageSize,
  resourcesKeyspacesMax,
  samplesMax,
  samplesLengthMax,
  resourceListLengthMax,
} = fixedLimits

export const resourceTemplates: Value = [
  {
    uriTemplate: `${root}/{keyspace}`,
    name: 'keyspace',
    title: 'Keyspace',
    description: 'The collections, tables and types of a keyspace, with their definitions.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${root}/{keyspace}/{name}`,
    name: 'collection-or-table',
    title: 'Collection or table',
    description:
      'The definition and indexes of a collection or table, and a few of its documents ' +
      'or rows, truncated.',
    mimeType: 'application/json',
  },
].map((members) => new Map(Object.entries(members)))

/** A page of resources, starting after the cursor. */
export async function listResources(
  cursor: Value | undefined,
  call: WrappedCall,
): Promise<{ readonly resources: Value; readonly nextCursor?: string }> {
  const from = cursor === undefined || cursor === null ? undefined : readCursor(cursor)
  const resources: Value[] = from === undefined ? [rootResource()] : []
  const keyspaces = await keyspacesOf(call)
  let looked = 0
  for (const keyspace of keyspaces) {
    if (from !== undefined && keyspace <= from) continue
    if (looked === resourcesKeyspacesMax || resources.length >= resourcesPageSize)
      return { resources, nextCursor: printCursor(keyspaces, keyspace) }
    looked++
    resources.push(...(await resourcesIn(keyspace, call)))
  }
  return { resources }
}

/** Reads the last keyspace of the previous page from the cursor. */
function readCursor(cursor: Value): string {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : ''
  if (text.startsWith('after:')) return text.slice('after:'.length)
  throw new RpcError(
    invalidParams,
    'The cursor is invalid. Send the nextCursor of the previous page.',
  )
}

function printCursor(keyspaces: readonly string[], next: string): string {
  const last = keyspaces[keyspaces.indexOf(next) - 1]!
  return Buffer.from(`after:${last}`).toString('base64url')
}

function rootResource(): Value {
  return resourceOf(root, 'keyspaces', 'The names of all keyspaces.')
}

async function resourcesIn(keyspace: string, call: WrappedCall): Promise<Value[]> {
  const found = await targetsIn(keyspace, call, false)
  // Another client dropped the keyspace after it was listed.
  if (found === undefined) return []
  const uri = `${root}/${encodeURIComponent(keyspace)}`
  const targets = (kind: string, names: readonly Value[]) =>
    (names as readonly string[]).map((name) =>
      resourceOf(
        `${uri}/${encodeURIComponent(name)}`,
        `${keyspace}.${name}`,
        `The ${kind} ${name} of the keyspace ${keyspace}.`,
      ),
    )
  return [
    resourceOf(
      uri,
      keyspace,
      `The collections, tables and types of the keyspace ${keyspace}.`,
    ),
    ...targets('collection', found.collections),
    ...targets('table', found.tables),
  ]
}

function resourceOf(uri: string, name: string, description: string): Value {
  return new Map(Object.entries({ uri, name, description, mimeType: 'application/json' }))
}

/**
 * The text of a resource; undefined when it does not exist or the token may not read it.
 */
export async function readResource(
  uri: string,
  call: WrappedCall,
): Promise<string | undefined> {
  const path = pathIn(uri)
  if (path === undefined) return undefined
  const [keyspace, name] = path
  if (keyspace === undefined) {
    const keyspaces = await keyspacesOf(call)
    return printJson(new Map<string, Value>([['keyspaces', [...keyspaces]]]))
  }
  const found = await targetsIn(keyspace, call, true)
  if (found === undefined) return undefined
  return name === undefined
    ? printJson(await showKeyspace(keyspace, found, call))
    : showTarget(keyspace, name, found, call)
}

/**
 * The names in a URI: an empty list, a keyspace, or a keyspace and one of its targets. Undefined if
 * the URI is invalid.
 */
function pathIn(uri: string): readonly string[] | undefined {
  if (uri === root) return []
  if (!uri.startsWith(`${root}/`)) return undefined
  const parts = uri.slice(root.length + 1).split('/')
  if (parts.length > 2 || parts.includes('')) return undefined
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return undefined
  }
}

async function showKeyspace(
  keyspace: string,
  { collections, tables }: Targets,
  call: WrappedCall,
): Promise<Value> {
  const types = await listIn(
    await run(inKeyspace(keyspace), 'listTypes', explained, call),
    call,
  )
  return new Map<string, Value>([
    ['keyspace', keyspace],
    ['collections', [...collections]],
    ['tables', [...tables]],
    ['types', [...types]],
  ])
}

async function showTarget(
  keyspace: string,
  name: string,
  { collections, tables }: Targets,
  call: WrappedCall,
): Promise<string | undefined> {
  const collection = collections.find((one) => isNamed(one, name))
  const table = tables.find((one) => isNamed(one, name))
  const definition = collection ?? table
  if (definition === undefined) return undefined
  const place: CommandPlace = { level: 'target', keyspace, target: name }
  const shown = new Map<string, Value>([
    ['keyspace', keyspace],
    [collection === undefined ? 'table' : 'collection', definition],
  ])
  if (table !== undefined) {
    const indexes = await listIn(await run(place, 'listIndexes', explained, call), call)
    shown.set('indexes', [...indexes])
  }
  const { databaseId: database, principal } = call
  if (principal.may('read', { database, keyspace, target: name }))
    await addSamples(shown, place, call)
  return printJson(shown)
}

async function addSamples(
  shown: JsonObject,
  place: CommandPlace,
  call: WrappedCall,
): Promise<void> {
  const limit = new Map<string, Value>([['limit', samplesMax]])
  const reply = await run(place, 'find', new Map([['options', limit]]), call)
  const documents =
    reply.data !== undefined && 'documents' in reply.data ? reply.data.documents : ''
  if (lengthOf(documents) > samplesLengthMax) {
    shown.set(
      'samples',
      'The samples are too large for a resource. Use find with a projection.',
    )
    return
  }
  const samples = parseStored(`[${wholeText(documents)}]`) as Value[]
  shown.set('samples', samples.map(shorten))
}

interface Targets {
  readonly collections: readonly Value[]
  readonly tables: readonly Value[]
}

const explained: JsonObject = new Map([
  ['options', new Map<string, Value>([['explain', true]])],
])

/**
 * Names of the collections or tables of a keyspace, or definitions with `explain`; undefined when
 * the keyspace does not exist or is not visible.
 */
async function targetsIn(
  keyspace: string,
  call: WrappedCall,
  explain: boolean,
): Promise<Targets | undefined> {
  const { databaseId: database, principal } = call
  if (!principal.may('describe', { database, keyspace })) return undefined
  const place = inKeyspace(keyspace)
  const fields = explain ? explained : new Map<string, Value>()
  const reply = await call.run(place, 'findCollections', fields)
  if (reply.errors?.some(({ code }) => code === 'UNKNOWN_KEYSPACE')) return undefined
  return {
    collections: await listIn(succeeded(reply), call),
    tables: await listIn(await run(place, 'listTables', fields, call), call),
  }
}

async function keyspacesOf(call: WrappedCall): Promise<string[]> {
  const place: CommandPlace = { level: 'general', keyspace: '', target: '' }
  const reply = await run(place, 'findKeyspaces', new Map(), call)
  return (await listIn(reply, call)) as string[]
}

function inKeyspace(keyspace: string): CommandPlace {
  return { level: 'keyspace', keyspace, target: '' }
}

function isNamed(definition: Value, name: string): boolean {
  return isObject(definition) && definition.get('name') === name
}

async function run(
  place: CommandPlace,
  command: string,
  fields: JsonObject,
  call: WrappedCall,
): Promise<Reply> {
  return succeeded(await call.run(place, command, fields))
}

/**
 * Returns a successful reply. Throws the error of a failed command, so that the whole resource
 * fails.
 */
function succeeded(reply: Reply): Reply {
  const first = reply.errors?.[0]
  if (first === undefined) return reply
  const { errors } = printParts(reply)
  throw new RpcError(internalError, first.message, 200, `{"errors":${errors!}}`)
}

/**
 * The list of a reply. Throws if the list is too long for a resource; tools return such lists in
 * full.
 */
async function listIn({ listed }: Reply, call: WrappedCall): Promise<readonly Value[]> {
  const elements = listed?.elements ?? ''
  const length = lengthOf(elements)
  if (length > resourceListLengthMax)
    throw new RpcError(
      internalError,
      `The list ${listed!.name} has ${length} characters; the maximum of a resource ` +
        `is ${resourceListLengthMax}. Call the tool findCollections, listTables or ` +
        'listTypes.',
    )
  return (await inTurns(parseStoredInSteps(`[${wholeText(elements)}]`), call)) as Value[]
}
