/**
 * Maps commands to the methods of the official clients. The clients have the same methods;
 * only their spelling differs.
 */
import { memberOf, type JsonNode, type Member, type ObjectNode } from '../json/json-tree.ts'
import type { CodeRequest } from './code-request.ts'

/** A command as a method call of a client. */
export interface ClientCall {
  readonly method: Method
  /** Positional arguments, by the names of the command's fields. */
  readonly positional: readonly { readonly name: string; readonly value: JsonNode }[]
  /** Named arguments: sort, projection and options. */
  readonly named: readonly { readonly name: string; readonly value: JsonNode }[]
}

export interface Method {
  readonly name: string
  readonly takes: readonly string[]
  readonly clauses: readonly string[]
  readonly options: readonly string[]
  /** Type of the method's result. */
  readonly gives: 'documents' | 'ranked' | 'document' | 'count' | 'result'
}

const found = ['sort', 'projection']
const methods: readonly Method[] = [
  {
    name: 'find',
    takes: ['filter'],
    clauses: found,
    options: ['limit', 'skip', 'includeSimilarity'],
    gives: 'documents',
  },
  {
    name: 'findOne',
    takes: ['filter'],
    clauses: found,
    options: ['includeSimilarity'],
    gives: 'document',
  },
  {
    name: 'findAndRerank',
    takes: ['filter'],
    clauses: found,
    options: ['limit', 'hybridLimits', 'rerankOn', 'rerankQuery', 'includeScores'],
    gives: 'ranked',
  },
  { name: 'countDocuments', takes: ['filter'], clauses: [], options: [], gives: 'count' },
  { name: 'estimatedDocumentCount', takes: [], clauses: [], options: [], gives: 'count' },
  { name: 'insertOne', takes: ['document'], clauses: [], options: [], gives: 'result' },
  {
    name: 'insertMany',
    takes: ['documents'],
    clauses: [],
    options: ['ordered'],
    gives: 'result',
  },
  {
    name: 'updateOne',
    takes: ['filter', 'update'],
    clauses: ['sort'],
    options: ['upsert'],
    gives: 'result',
  },
  {
    name: 'updateMany',
    takes: ['filter', 'update'],
    clauses: [],
    options: ['upsert'],
    gives: 'result',
  },
  { name: 'deleteOne', takes: ['filter'], clauses: ['sort'], options: [], gives: 'result' },
  { name: 'deleteMany', takes: ['filter'], clauses: [], options: [], gives: 'result' },
  {
    name: 'findOneAndUpdate',
    takes: ['filter', 'update'],
    clauses: found,
    options: ['upsert', 'returnDocument'],
    gives: 'document',
  },
  {
    name: 'findOneAndReplace',
    takes: ['filter', 'replacement'],
    clauses: found,
    options: ['upsert', 'returnDocument'],
    gives: 'document',
  },
  {
    name: 'findOneAndDelete',
    takes: ['filter'],
    clauses: found,
    options: [],
    gives: 'document',
  },
]

/** Methods for tables. The clients have no sort for updateOne and deleteOne of tables. */
const ofTables = [
  'find',
  'findOne',
  'insertOne',
  'insertMany',
  'updateOne',
  'deleteOne',
  'deleteMany',
]

/** The method call that sends exactly this command; undefined when no method does. */
export function clientCall(request: CodeRequest, body: JsonNode): ClientCall | undefined {
  const method = methods.find(({ name }) => name === request.command)
  if (method === undefined || body.kind !== 'object' || request.target === undefined)
    return undefined
  const isTable = request.kind === 'table'
  if (isTable && !ofTables.includes(method.name)) return undefined
  const clauses = isTable && method.gives === 'result' ? [] : method.clauses
  const options = isTable
    ? method.options.filter((name) => name !== 'upsert')
    : method.options
  const allowed = [...method.takes, ...clauses, 'options']
  const members = body.members.filter((member) => !isEmpty(member.value))
  if (members.some(({ key, value }) => !allowed.includes(key) || !isClause(key, value)))
    return undefined
  const given = memberOf(body, 'options')
  const named = [...pick(body, clauses), ...pick(given, options)]
  const count = given?.kind === 'object' ? given.members.length : 0
  if (pick(given, options).length !== count) return undefined
  const positional = method.takes.map((name) => ({ name, value: memberOf(body, name) }))
  if (positional.some(({ name, value }) => name !== 'filter' && isEmpty(value)))
    return undefined
  return {
    method,
    positional: positional.map(({ name, value }) => ({
      name,
      value: value === undefined || isEmpty(value) ? emptyObject : value,
    })),
    named,
  }
}

const emptyObject: ObjectNode = { kind: 'object', from: 0, to: 0, members: [] }

/** Whether a clause is missing or null. Both have the same meaning. */
function isEmpty(value: JsonNode | undefined): boolean {
  return value === undefined || (value.kind === 'word' && value.value === null)
}

/** Whether a clause has a shape that the clients can send. */
function isClause(key: string, value: JsonNode | undefined): boolean {
  return value?.kind === (key === 'documents' ? 'array' : 'object')
}

function pick(
  node: JsonNode | undefined,
  names: readonly string[],
): { name: string; value: JsonNode }[] {
  return names.flatMap((name) => {
    const value = memberOf(node, name)
    // An empty clause has the same meaning as a missing clause, and the clients omit it.
    return value === undefined || isEmpty(value) || isEmptyObject(value)
      ? []
      : [{ name, value }]
  })
}

function isEmptyObject(value: JsonNode): boolean {
  return value.kind === 'object' && value.members.length === 0
}

/** Every node of the tree, parents first. */
export function* walkTree(node: JsonNode): Generator<JsonNode> {
  yield node
  if (node.kind === 'array') for (const element of node.elements) yield* walkTree(element)
  if (node.kind === 'object')
    for (const { value } of node.members) if (value !== undefined) yield* walkTree(value)
}

/** The members of each object of the tree. */
export function* walkMembers(node: JsonNode): Generator<readonly Member[]> {
  for (const part of walkTree(node)) if (part.kind === 'object') yield part.members
}

export function hasLoneSurrogate(node: JsonNode): boolean {
  for (const part of walkTree(node)) {
    if (part.kind === 'string' && !part.value.isWellFormed()) return true
    if (part.kind === 'object' && part.members.some(({ key }) => !key.isWellFormed()))
      return true
  }
  return false
}
