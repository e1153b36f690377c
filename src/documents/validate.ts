/**
 * What a document may be made of. The limits that follow from indexing hold for the
 * indexed part only; names, nesting and typed values are checked everywhere.
 */
import { apiError } from '../errors/api-error.ts'
import { extendedOf } from '../json/extended.ts'
import { printJson } from '../json/print.ts'
import { isObject, type JsonObject, type Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import type { IndexingRule } from '../query/indexing.ts'
import { escapeSegment } from '../query/path.ts'
import { atOnce, Pace, type Steps } from '../steps.ts'

/** Throws at the first rule that the document breaks. Its search fields are not part of it. */
export function checkDocument(
  document: JsonObject,
  indexing: IndexingRule,
  limits: Limits,
): void {
  atOnce(checkDocumentInSteps(document, indexing, limits))
}

export function* checkDocumentInSteps(
  document: JsonObject,
  indexing: IndexingRule,
  limits: Limits,
): Steps<void> {
  const pace = new Pace()
  yield* checkForm(document, '', 1, limits, pace)
  yield* checkSizes(indexing.all ? document : indexing.prune(document), limits, pace)
}

export function checkLength(length: number, limits: Limits): void {
  if (length > limits.documentLengthMax)
    throw tooMuch(
      'The length of the document in characters',
      length,
      limits.documentLengthMax,
    )
}

/** Names, nesting and typed values. The depth is checked first, so recursion stays shallow. */
function* checkForm(
  value: object,
  path: string,
  depth: number,
  limits: Limits,
  pace: Pace,
): Steps<void> {
  if (Array.isArray(value)) {
    checkDepth(path, depth, limits)
    for (const element of value as Value[]) {
      if (pace.isDue()) yield
      if (isNested(element)) yield* checkForm(element, path, depth + 1, limits, pace)
    }
  } else if (isObject(value as Value)) {
    const object = value as JsonObject
    checkDepth(path, depth, limits)
    if (depth > 1 && isTyped(object, path)) return
    for (const [name, child] of object) {
      if (pace.isDue()) yield
      checkName(name, path)
      const childPath = join(path, name)
      if (childPath.length > limits.pathLengthMax)
        throw tooMuch(
          `The length of the path "${childPath.slice(0, 100)}…"`,
          childPath.length,
          limits.pathLengthMax,
        )
      if (isNested(child)) yield* checkForm(child, childPath, depth + 1, limits, pace)
    }
  }
}

function isNested(value: Value): value is Exclude<Value, string | number | boolean | null> {
  return typeof value === 'object' && value !== null
}

function checkDepth(path: string, depth: number, limits: Limits): void {
  if (depth > limits.documentDepthMax)
    throw tooMuch(`The nesting at "${path}"`, `${depth} levels`, limits.documentDepthMax)
}

/** Whether the object is a value of its own, such as {"$date": 0}; throws when malformed. */
function isTyped(value: JsonObject, path: string): boolean {
  const typed = extendedOf(value)
  if (typed?.kind !== 'malformed') return typed !== undefined
  throw apiError('SHRED_BAD_EJSON_VALUE', {
    wrapper: typed.wrapper,
    value: printJson(value.get(typed.wrapper) ?? null),
    path,
    expected: typed.expected,
  })
}

function checkName(name: string, path: string): void {
  if (name === '') throw badName(name, path, 'a name cannot be empty')
  if (name.startsWith('$'))
    throw badName(
      name,
      path,
      'a name cannot start with $, which marks fields of the service',
    )
  if (name === '*') throw badName(name, path, 'it stands for all fields in projections')
}

function badName(name: string, path: string, reason: string) {
  return apiError('SHRED_BAD_FIELD_NAME', { name, path, reason })
}

/** The limits of what is indexed: properties, array lengths, string sizes. */
function* checkSizes(document: JsonObject, limits: Limits, pace: Pace): Steps<void> {
  let properties = 0
  yield* visitObject(document, '')
  if (properties > limits.documentPropertiesMax)
    throw tooMuch(
      'The count of indexed properties in the document',
      properties,
      limits.documentPropertiesMax,
    )

  function* visit(value: Value, path: string): Steps<void> {
    if (Array.isArray(value)) {
      if (value.length > limits.arrayLengthMax)
        throw tooMuch(
          `The length of the array "${path}"`,
          value.length,
          limits.arrayLengthMax,
          unindexed(path),
        )
      for (const element of value) {
        if (pace.isDue()) yield
        if (typeof element === 'string') checkString(element, path, limits)
        else if (isNested(element)) yield* visit(element, path)
      }
    } else if (isObject(value) && extendedOf(value) === undefined)
      yield* visitObject(value, path)
  }

  function* visitObject(object: JsonObject, path: string): Steps<void> {
    const count = object.size
    if (count > limits.objectPropertiesMax)
      throw tooMuch(
        path === ''
          ? 'The count of indexed properties at the root'
          : `The count of indexed properties of "${path}"`,
        count,
        limits.objectPropertiesMax,
        path === '' ? undefined : unindexed(path),
      )
    properties += count
    for (const [name, child] of object) {
      if (pace.isDue()) yield
      const inner = join(path, escapeSegment(name))
      if (typeof child === 'string') checkString(child, inner, limits)
      else if (isNested(child)) yield* visit(child, inner)
    }
  }
}

function checkString(value: string, path: string, limits: Limits): void {
  // No character takes more than three bytes per UTF-16 unit.
  if (value.length * 3 <= limits.stringSizeMax) return
  const size = Buffer.byteLength(value)
  if (size > limits.stringSizeMax)
    throw tooMuch(
      `The size of the string "${path}" in bytes`,
      size,
      limits.stringSizeMax,
      unindexed(path),
    )
}

/** What to do where a limit holds for indexed values only. */
function unindexed(path: string): string {
  return (
    'This holds for what is indexed. Send less, or use a collection that is created with ' +
    `{"indexing": {"deny": [${JSON.stringify(path)}]}}; it stores what is there, but does not ` +
    'filter or sort by it'
  )
}

function tooMuch(what: string, actual: number | string, max: number, hint?: string) {
  return apiError('SHRED_DOC_LIMIT_VIOLATION', {
    what,
    actual,
    max,
    ...(hint !== undefined && { hint }),
  })
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
