/** Lists, sets and maps with more or less in them, in the form in which rows keep them. */
import { isTextual } from '../../columns/collections.ts'
import type { ColumnType, ElementType, UserTypes } from '../../columns/column-type.ts'
import { comparable, compareInOrder, orderOf } from '../../columns/comparable.ts'
import { printJson } from '../../json/print.ts'
import { isObject, type Value } from '../../json/value.ts'

export type CollectionType = Extract<ColumnType, { readonly type: 'list' | 'set' | 'map' }>

export type Entry = readonly [key: Value, value: Value]

export function isCollection(type: ColumnType): type is CollectionType {
  return type.type === 'list' || type.type === 'set' || type.type === 'map'
}

/** With elements at the end of a list or among those of a set, or with entries put. */
export function withAdded(
  type: CollectionType,
  stored: Value | undefined,
  added: readonly Value[],
  types: UserTypes,
): Value | undefined {
  switch (type.type) {
    case 'list':
      return unlessEmpty([...elementsOf(stored), ...added])
    case 'set': {
      const all = [...elementsOf(stored), ...added]
      return unlessEmpty(inOrder(all, type.valueType, (element) => element, types))
    }
    case 'map':
      return storedMap(type, [...entriesOf(stored), ...(added as [Value, Value][])], types)
  }
}

/** Without the elements, or the entries with the keys, that are equal to one of these. */
export function withoutAll(
  type: CollectionType,
  stored: Value | undefined,
  removed: readonly Value[],
  types: UserTypes,
): Value | undefined {
  const element = type.type === 'map' ? type.keyType : type.valueType
  const gone = new Set(removed.map((value) => identityOf(element, value, types)))
  const stays = (value: Value) => !gone.has(identityOf(element, value, types))
  if (type.type !== 'map') return unlessEmpty(elementsOf(stored).filter(stays))
  const left = entriesOf(stored).filter(([key]) => stays(key))
  return storedMap(type, left, types)
}

/** The entries of a stored map, which is an object or a list of pairs. */
export function entriesOf(stored: Value | undefined): readonly Entry[] {
  if (stored === undefined) return []
  return isObject(stored) ? [...stored] : (stored as [Value, Value][])
}

function elementsOf(stored: Value | undefined): readonly Value[] {
  return (stored as readonly Value[] | undefined) ?? []
}

function unlessEmpty(elements: Value[]): Value[] | undefined {
  return elements.length === 0 ? undefined : elements
}

function storedMap(
  { keyType }: Extract<CollectionType, { readonly type: 'map' }>,
  entries: readonly Entry[],
  types: UserTypes,
): Value | undefined {
  if (entries.length === 0) return undefined
  const sorted = inOrder(entries, keyType, ([key]) => key, types)
  return isTextual(keyType)
    ? new Map(sorted as [string, Value][])
    : sorted.map(([key, value]) => [key, value])
}

/** Sorted by type; of those that are equal the last stays. */
function inOrder<T>(
  items: readonly T[],
  type: ElementType,
  valueOf: (item: T) => Value,
  types: UserTypes,
): T[] {
  const distinct = new Map(
    items.map((item) => [identityOf(type, valueOf(item), types), item]),
  )
  return Array.from(distinct.values(), (item) => ({
    item,
    order: orderOf(type, valueOf(item), types),
  }))
    .sort((a, b) => compareInOrder(a.order, b.order))
    .map(({ item }) => item)
}

/** The same text for values that are equal. */
function identityOf(type: ElementType, stored: Value, types: UserTypes): string {
  return printJson(comparable(type, stored, types))
}
