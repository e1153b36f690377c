/**
 * Validates documents. Limits that indexing imposes apply to the indexed part only; names,
 * nesting and typed values are checked everywhere.
 */
import { apiError } from '../errors/api-error.ts'
import { extendedOf } from '../json/extended.ts'
import { printJson } from '../json/print.ts'
import { isNested, isObject, type JsonObject, type Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import type { IndexingRule } from '../language/filters/indexing.ts'
import { escapeSegment } from '../language/values/path.ts'
import { InterruptibleWalk, type Steps } from '../runtime/steps.ts'

/**
 * Checks a document without its search fields; throws at the first violation. Returns the
 * remaining steps of a large document.
 */
export function checkDocumentInSteps(
  document: JsonObject,
  indexing: IndexingRule,
  limits: Limits,
): Steps<void> | undefined {
  const walk = new InterruptibleWalk()
  const checkForm = () => new FormCheck(limits, walk).check(document)
  const checkSizes = (indexed: JsonObject) => new SizeCheck(limits, walk).check(indexed)
  if (!indexing.all) return checkIndexed(document, indexing, walk, checkForm, checkSizes)
  const isDone = checkForm() ? checkSizes(document) : walk.stop(() => checkSizes(document))
  return isDone ? undefined : walk.rest()
}

function* checkIndexed(
  document: JsonObject,
  indexing: IndexingRule,
  walk: InterruptibleWalk,
  checkForm: () => boolean,
  checkSizes: (indexed: JsonObject) => boolean,
): Steps<void> {
  if (!checkForm()) yield* walk.rest()
  const indexed = yield* indexing.pruneInSteps(document)
  if (!checkSizes(indexed)) yield* walk.rest()
}

export function checkLength(length: number, limits: Limits): void {
  if (length > limits.documentLengthMax)
    throw tooMuch(
      'The number of characters of the document',
      length,
      limits.documentLengthMax,
    )
}

/**
 * Checks names, nesting and typed values. The depth is checked first, so recursion is bounded.
 */
class FormCheck {
  readonly #limits: Limits
  readonly #walk: InterruptibleWalk

  constructor(limits: Limits, walk: InterruptibleWalk) {
    this.#limits = limits
    this.#walk = walk
  }

  check(document: JsonObject): boolean {
    return this.#checkMembers(document.entries(), '', 1)
  }

  #checkNested(value: Value, path: string, depth: number): boolean {
    if (Array.isArray(value)) {
      checkDepth(path, depth, this.#limits)
      return this.#checkElements(value, 0, path, depth)
    }
    if (!isObject(value)) return true
    checkDepth(path, depth, this.#limits)
    return isTyped(value, path) || this.#checkMembers(value.entries(), path, depth)
  }

  #checkElements(
    array: readonly Value[],
    from: number,
    path: string,
    depth: number,
  ): boolean {
    for (let i = from; i < array.length; i++) {
      const element = array[i]!
      const isDone = !isNested(element) || this.#checkNested(element, path, depth + 1)
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop(() => this.#checkElements(array, next, path, depth))
      }
    }
    return true
  }

  #checkMembers(members: Members, path: string, depth: number): boolean {
    const { pathLengthMax } = this.#limits
    const lengthMax = path === '' ? pathLengthMax : pathLengthMax - path.length - 1
    for (const [name, child] of members) {
      checkName(name, path)
      if (name.length > lengthMax) throw longPath(join(path, name), pathLengthMax)
      const isDone =
        !isNested(child) || this.#checkNested(child, join(path, name), depth + 1)
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#checkMembers(members, path, depth))
    }
    return true
  }
}

/** Iterator over the remaining members of an object, so that a check can pause within it. */
type Members = MapIterator<[string, Value]>

function checkDepth(path: string, depth: number, limits: Limits): void {
  if (depth > limits.documentDepthMax)
    throw tooMuch(
      `The nesting depth at "${path}"`,
      `${depth} levels`,
      limits.documentDepthMax,
    )
}

/** Whether the object is a typed value such as {"$date": 0}; throws when it is malformed. */
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
    throw badName(name, path, 'a name cannot start with $, which is reserved')
  if (name === '*') throw badName(name, path, 'it selects all fields in projections')
}

function badName(name: string, path: string, reason: string) {
  return apiError('SHRED_BAD_FIELD_NAME', { name, path, reason })
}

function longPath(path: string, max: number) {
  const what = `The length of the path "${path.slice(0, 100)}…"`
  return tooMuch(what, path.length, max)
}

/**
 * Checks limits of indexed values: number of properties, lengths of arrays, sizes of strings.
 */
class SizeCheck {
  readonly #limits: Limits
  readonly #walk: InterruptibleWalk
  #properties = 0

  constructor(limits: Limits, walk: InterruptibleWalk) {
    this.#limits = limits
    this.#walk = walk
  }

  check(document: JsonObject): boolean {
    return this.#checkObject(document, '')
      ? this.#checkTotal()
      : this.#walk.stop(() => this.#checkTotal())
  }

  #checkTotal(): boolean {
    if (this.#properties > this.#limits.documentPropertiesMax)
      throw tooMuch(
        'The number of indexed properties in the document',
        this.#properties,
        this.#limits.documentPropertiesMax,
      )
    return true
  }

  #checkNested(value: Value, path: string): boolean {
    if (Array.isArray(value)) return this.#checkArray(value, path)
    if (!isObject(value) || extendedOf(value) !== undefined) return true
    return this.#checkObject(value, path)
  }

  #checkArray(array: readonly Value[], path: string): boolean {
    const max = this.#limits.arrayLengthMax
    if (array.length > max)
      throw tooMuch(`The length of the array "${path}"`, array.length, max, unindexed(path))
    return this.#checkElements(array, 0, path)
  }

  #checkElements(array: readonly Value[], from: number, path: string): boolean {
    for (let i = from; i < array.length; i++) {
      const element = array[i]!
      if (typeof element === 'string' && this.#isLong(element))
        throw this.#longString(element, path)
      const isDone = !isNested(element) || this.#checkNested(element, path)
      if (this.#walk.isDue() || !isDone) {
        const next = i + 1
        return this.#walk.stop(() => this.#checkElements(array, next, path))
      }
    }
    return true
  }

  #checkObject(object: JsonObject, path: string): boolean {
    const max = this.#limits.objectPropertiesMax
    if (object.size > max)
      throw tooMuch(
        path === ''
          ? 'The number of indexed properties at the top level'
          : `The number of indexed properties of "${path}"`,
        object.size,
        max,
        path === '' ? undefined : unindexed(path),
      )
    this.#properties += object.size
    return this.#checkMembers(object.entries(), path)
  }

  #checkMembers(members: Members, path: string): boolean {
    for (const [name, child] of members) {
      if (typeof child === 'string' && this.#isLong(child))
        throw this.#longString(child, join(path, escapeSegment(name)))
      const isDone =
        !isNested(child) || this.#checkNested(child, join(path, escapeSegment(name)))
      if (this.#walk.isDue() || !isDone)
        return this.#walk.stop(() => this.#checkMembers(members, path))
    }
    return true
  }

  #isLong(string: string): boolean {
    const max = this.#limits.stringSizeMax
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    return string.length * 3 > max && Buffer.byteLength(string) > max
  }

  #longString(string: string, path: string) {
    return tooMuch(
      `The number of bytes of the string "${path}"`,
      Buffer.byteLength(string),
      this.#limits.stringSizeMax,
      path === '_id' ? 'Send a shorter _id, which is always indexed' : unindexed(path),
    )
  }
}

/** Advice for violations of limits that apply to indexed values only. */
function unindexed(path: string): string {
  return (
    'The limit applies to indexed fields. Send less, or use a collection created with ' +
    `{"indexing": {"deny": [${JSON.stringify(path)}]}}, which stores this field but ` +
    'cannot filter or sort by it'
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
