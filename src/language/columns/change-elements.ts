/** Adds and removes elements of lists, sets and maps, in their stored form. */
import { isDecimal, type Value } from '../../json/value.ts'
import { Pace, type Steps } from '../../runtime/steps.ts'
import {
  entriesOf,
  isTextual,
  mapOf,
  sorted,
  type CollectionType,
  type MapEntry,
} from './collections.ts'
import type { ElementType, UserTypes } from './column-type.ts'
import { comparable, orderOf } from './comparable.ts'

/** Appends to a list, inserts into a set, or puts entries into a map. */
export function* withAdded(
  type: CollectionType,
  stored: Value | undefined,
  added: readonly Value[],
  types: UserTypes,
): Steps<Value | undefined> {
  switch (type.type) {
    case 'list':
      return unlessEmpty([...elementsOf(stored), ...added])
    case 'set': {
      const all = [...elementsOf(stored), ...added]
      return unlessEmpty(yield* inOrder(all, type.valueType, (element) => element, types))
    }
    case 'map':
      return yield* storedMap(
        type,
        [...storedEntries(stored), ...(added as [Value, Value][])],
        types,
      )
  }
}

/**
 * Removes every element of a list or set, or every map entry whose key, equals one of the values in
 * `removed`.
 */
export function* withoutAll(
  type: CollectionType,
  stored: Value | undefined,
  removed: readonly Value[],
  types: UserTypes,
): Steps<Value | undefined> {
  const element = type.type === 'map' ? type.keyType : type.valueType
  const pace = new Pace()
  const gone = new Set<Value>()
  for (const value of removed) {
    if (pace.isDue()) yield
    gone.add(identityOf(element, value, types))
  }
  const isGone = (value: Value) => gone.has(identityOf(element, value, types))
  if (type.type !== 'map')
    return unlessEmpty(yield* without(elementsOf(stored), isGone, pace))
  const left = yield* without(storedEntries(stored), ([key]) => isGone(key), pace)
  return yield* storedMap(type, left, types)
}

function* without<T>(
  items: readonly T[],
  isGone: (item: T) => boolean,
  pace: Pace,
): Steps<T[]> {
  const left: T[] = []
  for (const item of items) {
    if (pace.isDue()) yield
    if (!isGone(item)) left.push(item)
  }
  return left
}

function elementsOf(stored: Value | undefined): readonly Value[] {
  return (stored as readonly Value[] | undefined) ?? []
}

function storedEntries(stored: Value | undefined): readonly MapEntry[] {
  return stored === undefined ? [] : entriesOf(stored)
}

function unlessEmpty(elements: Value[]): Value[] | undefined {
  return elements.length === 0 ? undefined : elements
}

function* storedMap(
  { keyType }: Extract<CollectionType, { readonly type: 'map' }>,
  entries: readonly MapEntry[],
  types: UserTypes,
): Steps<Value | undefined> {
  if (entries.length === 0) return undefined
  const ordered = yield* inOrder(entries, keyType, ([key]) => key, types)
  return isTextual(keyType)
    ? yield* mapOf(ordered)
    : ordered.map(([key, value]) => [key, value])
}

/**
 * Sorts in the order of the type and removes duplicates. The last of several equal items remains.
 */
function* inOrder<T>(
  items: readonly T[],
  type: ElementType,
  valueOf: (item: T) => Value,
  types: UserTypes,
): Steps<T[]> {
  const pace = new Pace()
  const distinct = new Map<Value, T>()
  for (const item of items) {
    if (pace.isDue()) yield
    distinct.set(identityOf(type, valueOf(item), types), item)
  }
  const of = (item: T) => orderOf(type, valueOf(item), types)
  const ordered = yield* sorted(distinct.values(), of)
  return ordered.map(({ item }) => item)
}

/** A scalar that is identical (===) for equal values. */
function identityOf(type: ElementType, stored: Value, types: UserTypes): Value {
  const scalar = comparable(type, stored, types)
  return isDecimal(scalar) ? scalar.decimal : scalar
}
