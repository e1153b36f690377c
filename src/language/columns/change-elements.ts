/** Lists, sets and maps with more or less in them, in the form in which rows keep them. */
import { printJson } from '../../json/print.ts'
import type { Value } from '../../json/value.ts'
import {
  entriesOf,
  isTextual,
  sorted,
  type CollectionType,
  type MapEntry,
} from './collections.ts'
import type { ElementType, UserTypes } from './column-type.ts'
import { comparable, orderOf } from './comparable.ts'

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
      return storedMap(
        type,
        [...storedEntries(stored), ...(added as [Value, Value][])],
        types,
      )
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
  const left = storedEntries(stored).filter(([key]) => stays(key))
  return storedMap(type, left, types)
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

function storedMap(
  { keyType }: Extract<CollectionType, { readonly type: 'map' }>,
  entries: readonly MapEntry[],
  types: UserTypes,
): Value | undefined {
  if (entries.length === 0) return undefined
  const ordered = inOrder(entries, keyType, ([key]) => key, types)
  return isTextual(keyType)
    ? new Map(ordered as [string, Value][])
    : ordered.map(([key, value]) => [key, value])
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
  const ordered = sorted(distinct.values(), (item) => orderOf(type, valueOf(item), types))
  return ordered.map(({ item }) => item)
}

/** The same text for values that are equal. */
function identityOf(type: ElementType, stored: Value, types: UserTypes): string {
  return printJson(comparable(type, stored, types))
}
