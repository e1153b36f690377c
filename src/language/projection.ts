/**
 * Projections: the parts of a document that a reply contains.
 *
 * Regular fields select one of two modes, inclusion or exclusion. `_id` and the search fields can
 * be included or excluded separately in both modes. $slice works in both modes. Paths pass through
 * arrays, so "items.price" applies to every item.
 */
import { apiError, type ApiError } from '../errors/api-error.ts'
import { extendedOf } from '../json/extended.ts'
import {
  isNumeric,
  isObject,
  jsonTypeOf,
  type JsonObject,
  type Value,
} from '../json/value.ts'
import { fixedLimits } from '../limits.ts'
import { InterruptibleWalk, type Steps } from '../runtime/steps.ts'
import { parsePath } from './values/path.ts'
import { PathTree } from './values/path-tree.ts'
import { quoteJson } from './values/quote-json.ts'

export interface Projection {
  /** Whether replies contain the stored text unchanged, without search fields. */
  readonly whole: boolean
  /** Whether replies contain an empty object instead of the document. */
  readonly nothing: boolean
  /**
   * Whether replies contain `$vector` if the document has it. The next two are the same for
   * `$vectorize` and `$lexical`.
   */
  readonly vector: boolean
  readonly vectorize: boolean
  readonly lexical: boolean
  /**
   * Projects a document. The result may share parts with the original and keeps the order of its
   * fields. Returns steps if the work takes more than one step.
   */
  apply(document: JsonObject): JsonObject | Steps<JsonObject>
}

export function parseProjection(value: Value | undefined): Projection {
  if (value === undefined) return everything
  if (!isObject(value))
    throw apiError('UNSUPPORTED_PROJECTION_DEFINITION', { type: jsonTypeOf(value) })
  const all = value.get('*')
  if (all !== undefined) return parseWildcard(all, value.size)
  const clause = new Clause()
  for (const [name, choice] of value) readRoot(clause, name, choice)
  return project(clause)
}

/** The effect of a projection on the value at a path. */
type Leaf = { readonly path: string } & (
  | { readonly kind: 'include' | 'exclude' }
  | { readonly kind: 'slice'; readonly cut: (array: readonly Value[]) => Value[] }
)

type Tree = PathTree<Leaf>

/** A projection while it is parsed. */
class Clause {
  /** Whether `_id` is included. Undefined: the clause does not name it, so it is included. */
  id: boolean | undefined
  vector = false
  vectorize = false
  lexical = false
  readonly paths: Tree = new PathTree()
  /** The first path of each mode, for the error about a clause that uses both modes. */
  included: string | undefined
  excluded: string | undefined
}

function project(clause: Clause): Projection {
  const { id, vector, vectorize, lexical, paths } = clause
  return Object.freeze({
    whole:
      id === undefined && !vector && !vectorize && !lexical && paths.children.size === 0,
    nothing: false,
    vector,
    vectorize,
    lexical,
    apply: (document: JsonObject) => new Showing(clause).show(document),
  })
}

/** The projection of a command without this clause: replies contain the stored document. */
const everything = project(new Clause())

/** Whether any part of a root field is included. */
function isShown(clause: Clause, name: string): boolean {
  switch (name) {
    case '_id':
      return clause.id ?? true
    case '$vector':
      return clause.vector
    case '$vectorize':
      return clause.vectorize
    case '$lexical':
      return clause.lexical
    default:
      if (clause.paths.children.has(name)) return true
      return clause.included === undefined && !isOnlyId(clause)
  }
}

/**
 * Whether the clause includes `_id` and names no regular field, so that replies contain only `_id`.
 */
function isOnlyId({ id, paths }: Clause): boolean {
  return id === true && paths.children.size === 0
}

/**
 * Projects one document. Every object or array of the result is attached to its container before it
 * is filled, so that the work can be interrupted.
 */
class Showing {
  readonly #clause: Clause
  readonly #keeps: boolean
  readonly #walk = new InterruptibleWalk()

  constructor(clause: Clause) {
    this.#clause = clause
    this.#keeps = clause.included === undefined
  }

  show(document: JsonObject): JsonObject | Steps<JsonObject> {
    const shown: JsonObject = new Map()
    return this.#addRoots(shown, document.entries()) ? shown : this.#rest(shown)
  }

  *#rest(shown: JsonObject): Steps<JsonObject> {
    yield* this.#walk.rest()
    return shown
  }

  #addRoots(shown: JsonObject, fields: Fields): boolean {
    const { children } = this.#clause.paths
    for (const [name, value] of fields) {
      const isDone =
        !isShown(this.#clause, name) ||
        this.#addField(shown, name, children.get(name), value)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addRoots(shown, fields))
    }
    return true
  }

  #addFields(shown: JsonObject, fields: Fields, node: Tree): boolean {
    for (const [name, value] of fields) {
      const child = node.children.get(name)
      const isDone =
        (child === undefined && !this.#keeps) || this.#addField(shown, name, child, value)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#addFields(shown, fields, node))
    }
    return true
  }

  #addField(
    shown: JsonObject,
    name: string,
    node: Tree | undefined,
    value: Value,
  ): boolean {
    if (node === undefined) {
      shown.set(name, value)
      return true
    }
    const part = partOf(node, value)
    if (part !== undefined) shown.set(name, part)
    return part === value || this.#fill(part, value, node)
  }

  /** Adds the selected part of every element, because paths pass through arrays. */
  #addElements(shown: Value[], array: readonly Value[], from: number, node: Tree): boolean {
    for (let i = from; i < array.length; i++) {
      const element = array[i]!
      const part = partOf(node, element)!
      shown.push(part)
      const isDone = part === element || this.#fill(part, element, node)
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop(() => this.#addElements(shown, array, next, node))
      }
    }
    return true
  }

  /** Fills the container that `partOf` created. The part of a leaf is already complete. */
  #fill(part: Value | undefined, value: Value, node: Tree): boolean {
    if (node.leaf !== undefined) return true
    if (Array.isArray(value)) return this.#addElements(part as Value[], value, 0, node)
    return this.#addFields(part as JsonObject, (value as JsonObject).entries(), node)
  }
}

type Fields = MapIterator<[string, Value]>

/**
 * The part of a value that the node selects; undefined if it excludes the value. Objects and arrays
 * that are filled later are returned empty. A scalar is selected in both modes.
 */
function partOf({ leaf }: Tree, value: Value): Value | undefined {
  switch (leaf?.kind) {
    case 'include':
      return value
    case 'exclude':
      return undefined
    case 'slice':
      return Array.isArray(value) ? leaf.cut(value) : value
    case undefined:
      if (Array.isArray(value)) return []
      return isObject(value) && extendedOf(value) === undefined ? new Map() : value
  }
}

function parseWildcard(choice: Value, size: number): Projection {
  if (size > 1) throw refused('*', 'it must be the only field of the projection')
  const wanted = parseSwitch('*', choice)
  return Object.freeze({
    whole: false,
    nothing: !wanted,
    vector: wanted,
    vectorize: wanted,
    lexical: wanted,
    apply: (document: JsonObject) => (wanted ? document : new Map()),
  })
}

function readRoot(clause: Clause, name: string, choice: Value): void {
  switch (name) {
    case '_id':
      clause.id = parseSwitch(name, choice)
      return
    case '$vector':
      clause.vector = parseSwitch(name, choice)
      return
    case '$vectorize':
      clause.vectorize = parseSwitch(name, choice)
      return
    case '$lexical':
      clause.lexical = parseSwitch(name, choice)
      return
    default:
      readPath(clause, [], '', name, choice)
  }
}

/** Reads a path and its value; `above` contains the segments of the enclosing objects. */
function readPath(
  clause: Clause,
  above: readonly string[],
  aboveText: string,
  name: string,
  choice: Value,
): void {
  const text = aboveText === '' ? name : `${aboveText}.${name}`
  const parsed = parsePath(name)
  if ('problem' in parsed) throw refused(text, parsed.problem)
  checkNames(text, parsed.segments)
  const segments = [...above, ...parsed.segments]
  const max = fixedLimits.projectionDepthMax
  if (segments.length > max)
    throw refused(text, `it has ${segments.length} segments; the maximum is ${max}`)
  if (!isObject(choice)) {
    const kind = parseSwitch(text, choice) ? 'include' : 'exclude'
    if (kind === 'include') clause.included ??= text
    else clause.excluded ??= text
    if (clause.included !== undefined && clause.excluded !== undefined)
      throw refused(
        text,
        `"${clause.included}" is included and "${clause.excluded}" is excluded; a ` +
          'projection must either include or exclude, except for _id and search fields',
      )
    addLeaf(clause, segments, { path: text, kind })
  } else if ([...choice.keys()].some((key) => key.startsWith('$'))) {
    addLeaf(clause, segments, { path: text, kind: 'slice', cut: parseSlice(text, choice) })
  } else {
    if (choice.size === 0) throw refused(text, 'an empty Object names no field')
    for (const [inner, innerChoice] of choice)
      readPath(clause, segments, text, inner, innerChoice)
  }
}

function checkNames(text: string, segments: readonly string[]): void {
  for (const segment of segments) {
    if (segment === '*')
      throw refused(text, '* selects the whole document and cannot be part of a path')
    if (segment.startsWith('$'))
      throw refused(
        text,
        `"${segment}" is not a field; the only names that start with $ are search ` +
          'fields, at the top level of a document',
      )
  }
}

function addLeaf(clause: Clause, segments: readonly string[], leaf: Leaf): void {
  const overlapped = clause.paths.add(segments, leaf)
  if (overlapped !== undefined)
    throw refused(leaf.path, `it overlaps with "${overlapped.path}"; use only one of them`)
}

export function parseSwitch(text: string, choice: Value): boolean {
  if (typeof choice === 'boolean') return choice
  if (isNumeric(choice)) return choice !== 0
  throw refused(text, `it must be 1, 0, true or false, not ${quoteJson(choice)}`)
}

function parseSlice(text: string, operators: JsonObject) {
  const unknown = [...operators.keys()].find((key) => key !== '$slice')
  if (unknown !== undefined)
    throw refused(
      text,
      `"${unknown}" is not supported; the only operator of a projection is $slice`,
    )
  const argument = operators.get('$slice')!
  if (isInteger(argument))
    return (array: readonly Value[]) =>
      argument < 0 ? array.slice(argument) : array.slice(0, argument)
  if (Array.isArray(argument) && argument.length === 2) {
    const [skip, count] = argument as [Value, Value]
    if (isInteger(skip) && isInteger(count) && count >= 0)
      return (array: readonly Value[]) => {
        const start = skip < 0 ? Math.max(0, array.length + skip) : skip
        return array.slice(start, start + count)
      }
  }
  throw refused(
    text,
    '$slice must be an integer, or an Array of two: the number of elements to skip, ' +
      'and the number to return, which cannot be negative',
  )
}

function isInteger(value: Value): value is number {
  return typeof value === 'number' && Number.isInteger(value)
}

export function refused(path: string, reason: string): ApiError {
  return apiError('UNSUPPORTED_PROJECTION_PARAM', { path, reason })
}
