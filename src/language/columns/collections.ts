/** Reads lists, sets and maps from requests. Empty collections are stored as absent. */
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { sortInSteps } from '../../runtime/sort-in-steps.ts'
import { Pace, type Steps } from '../../runtime/steps.ts'
import { quoteJson } from '../values/quote-json.ts'
import { BadValue } from './bad-value.ts'
import type { ColumnType, ElementType, PrimitiveName, UserTypes } from './column-type.ts'
import { compareInOrder, orderOf, type Order } from './comparable.ts'
import { readElement } from './elements.ts'
import { readPairs } from './pairs.ts'

export type CollectionType = Extract<ColumnType, { readonly type: 'list' | 'set' | 'map' }>

export type MapEntry = readonly [key: Value, value: Value]

export function* readList(
  valueType: ElementType,
  value: Value,
  types: UserTypes,
): Steps<Value[] | undefined | BadValue> {
  const elements = yield* readElements('list', valueType, value, types)
  return elements instanceof BadValue || elements.length > 0 ? elements : undefined
}

/** Reads a set: sorts the elements and removes duplicates. */
export function* readSet(
  valueType: ElementType,
  value: Value,
  types: UserTypes,
): Steps<Value[] | undefined | BadValue> {
  const elements = yield* readElements('set', valueType, value, types)
  if (elements instanceof BadValue) return elements
  const ordered = yield* sorted(elements, (element) => orderOf(valueType, element, types))
  const distinct = ordered.filter(
    ({ order }, position) =>
      position === 0 || compareInOrder(ordered[position - 1]!.order, order) !== 0,
  )
  return distinct.length > 0 ? distinct.map(({ item }) => item) : undefined
}

function* readElements(
  kind: 'list' | 'set',
  valueType: ElementType,
  value: Value,
  types: UserTypes,
): Steps<Value[] | BadValue> {
  if (!Array.isArray(value))
    return new BadValue(`is of type ${jsonTypeOf(value)}, but a ${kind} must be an array`)
  const pace = new Pace()
  const elements: Value[] = []
  for (const [position, element] of value.entries()) {
    if (pace.isDue()) yield
    const read = readElement(valueType, element, types)
    if (read instanceof BadValue)
      return new BadValue(
        `has the element ${quoteJson(element)} at position ${position}, which ${read.problem}`,
      )
    elements.push(read)
  }
  return elements
}

/**
 * Reads a map and sorts it by key. Returns an object if keys are texts, otherwise a list of pairs.
 */
export function* readMap(
  keyType: PrimitiveName,
  valueType: ElementType,
  value: Value,
  types: UserTypes,
): Steps<Value | undefined | BadValue> {
  const pairs = pairsOf(keyType, value)
  if (pairs instanceof BadValue) return pairs
  const pace = new Pace()
  const entries: [Value, Value][] = []
  for (const [key, content] of pairs) {
    if (pace.isDue()) yield
    const entry = readEntry(keyType, valueType, key, content, types)
    if (entry instanceof BadValue) return entry
    entries.push(entry)
  }
  const ordered = yield* sorted(entries, ([key]) => orderOf(keyType, key, types))
  const again = ordered.find(
    ({ order }, position) =>
      position > 0 && compareInOrder(ordered[position - 1]!.order, order) === 0,
  )
  if (again !== undefined)
    return new BadValue(`has the key ${quoteJson(again.item[0])} twice`)
  if (ordered.length === 0) return undefined
  const items = ordered.map(({ item }) => item)
  return isTextual(keyType) ? yield* mapOf(items) : items
}

/** The stored form of a map whose keys are texts. */
export function* mapOf(entries: readonly MapEntry[]): Steps<JsonObject> {
  const pace = new Pace()
  const map: JsonObject = new Map()
  for (const [key, value] of entries) {
    if (pace.isDue()) yield
    map.set(key as string, value)
  }
  return map
}

function pairsOf(
  keyType: PrimitiveName,
  value: Value,
): Iterable<readonly [Value, Value]> | BadValue {
  const asObject = hasStringKeys(keyType)
  if (isObject(value) && (asObject || value.size === 0)) return value
  const takes = asObject
    ? 'a map must be an object, or an array of pairs [key, value]'
    : `a map with keys of type ${keyType} must be an array of pairs [key, value]`
  return readPairs(value, takes)
}

function readEntry(
  keyType: PrimitiveName,
  valueType: ElementType,
  key: Value,
  content: Value,
  types: UserTypes,
): [Value, Value] | BadValue {
  const readKey = readElement(keyType, key, types)
  if (readKey instanceof BadValue)
    return new BadValue(`has the key ${quoteJson(key)}, which ${readKey.problem}`)
  const read = readElement(valueType, content, types)
  if (read instanceof BadValue)
    return new BadValue(
      `has the value ${quoteJson(content)} for the key ${quoteJson(key)}, which ` +
        read.problem,
    )
  return [readKey, read]
}

export function isCollection(type: ColumnType): type is CollectionType {
  return type.type === 'list' || type.type === 'set' || type.type === 'map'
}

/** The entries of a stored map, which is an object or a list of pairs. */
export function entriesOf(stored: Value): readonly MapEntry[] {
  return isObject(stored) ? [...stored] : (stored as [Value, Value][])
}

/** Whether maps with these keys are stored as objects. */
export function isTextual(keyType: PrimitiveName): boolean {
  return keyType === 'text' || keyType === 'ascii'
}

/** Whether requests may write maps with these keys as objects. */
function hasStringKeys(keyType: PrimitiveName): boolean {
  switch (keyType) {
    case 'text':
    case 'ascii':
    case 'uuid':
    case 'timeuuid':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'inet':
      return true
    default:
      return false
  }
}

interface Ordered<T> {
  readonly item: T
  readonly order: Order
}

/** Items in order, each with its sort key. */
export function* sorted<T>(
  items: Iterable<T>,
  of: (item: T) => Order,
): Steps<readonly Ordered<T>[]> {
  const pace = new Pace()
  const ordered: Ordered<T>[] = []
  for (const item of items) {
    if (pace.isDue()) yield
    ordered.push({ item, order: of(item) })
  }
  return yield* sortInSteps(ordered, (a, b) => compareInOrder(a.order, b.order), pace)
}
