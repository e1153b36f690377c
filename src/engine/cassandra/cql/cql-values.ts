/** Converts column values to and from the driver's forms (primitives: cql-primitives.ts). */
import type { JsonObject, Value } from '../../../json/value.ts'
import { withAdded } from '../../../language/columns/change-elements.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import { entriesOf, isCollection } from '../../../language/columns/collections.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import type {
  ColumnType,
  ElementType,
  PrimitiveName,
  UserTypes,
} from '../../../language/columns/column-type.ts'
import { userTypeOf } from '../../../language/columns/user-types.ts'
import { EngineError } from '../../errors.ts'
import { bytesOfCollection } from './cql-collections.ts'
import {
  bindPrimitive,
  bytesOfPrimitive,
  isReadableWithin,
  readPrimitive,
} from './cql-primitives.ts'

/** The value to bind for a column; null clears it. */
export function bindValue(
  { type }: Pick<Column, 'type'>,
  value: ColumnValue | undefined,
  types: UserTypes,
): unknown {
  if (value === undefined) return null
  switch (type.type) {
    case 'vector':
      return bytesOfVector(value as ArrayLike<number>)
    case 'list':
    case 'set':
      return bindElements(type.valueType, value as Value[], types)
    case 'map':
      return bindEntries(type, entriesOf(value as Value), types)
    case 'userDefined':
      return bindElement(type, value as Value, types)
    default:
      return bindPrimitive(type.type, value as Value)
  }
}

/**
 * The value of a key column with 0 in place of -0, because Cassandra treats 0 and -0 as different
 * keys.
 */
export function withoutSign(value: ColumnValue): ColumnValue {
  if (value instanceof Float32Array) return value.map((one) => one + 0)
  return value === 0 ? 0 : value
}

/** Like bindValue for writes: encodes lists, sets and maps in steps. */
export function* bindWritten(
  column: Pick<Column, 'type'>,
  value: ColumnValue | undefined,
  types: UserTypes,
): Steps<unknown> {
  const { type } = column
  if (value === undefined || !isCollection(type)) return bindValue(column, value, types)
  return type.type === 'map'
    ? yield* bytesOfEntries(type, entriesOf(value as Value), types)
    : yield* bytesOfElements(type.valueType, value as Value[], types)
}

/** Encodes the elements of a list or set, or the keys of a map. */
export function bytesOfElements(
  type: ElementType,
  elements: readonly Value[],
  types: UserTypes,
): Steps<Buffer> {
  return bytesOfCollection(elements, (element) => [bytesOfElement(type, element, types)])
}

export function bytesOfEntries(
  { keyType, valueType }: Extract<ColumnType, { readonly type: 'map' }>,
  entries: readonly (readonly [Value, Value])[],
  types: UserTypes,
): Steps<Buffer> {
  return bytesOfCollection(entries, ([key, value]) => [
    bytesOfElement(keyType, key, types),
    bytesOfElement(valueType, value, types),
  ])
}

function bytesOfElement(type: ElementType, value: Value, types: UserTypes): Buffer {
  if (typeof type === 'string') {
    checkReadable(type, value)
    return bytesOfPrimitive(type, value)
  }
  return Buffer.concat(partsOf(type, value as JsonObject, types).flatMap(withLength))
}

/** Binds the elements of a list or set. */
function bindElements(
  type: ElementType,
  elements: readonly Value[],
  types: UserTypes,
): unknown[] {
  return elements.map((element) => bindElement(type, element, types))
}

function bindEntries(
  { keyType, valueType }: Extract<ColumnType, { readonly type: 'map' }>,
  entries: readonly (readonly [Value, Value])[],
  types: UserTypes,
): Map<unknown, unknown> {
  return new Map(
    entries.map(([key, value]) => [
      bindElement(keyType, key, types),
      bindElement(valueType, value, types),
    ]),
  )
}

export function bindElement(type: ElementType, value: Value, types: UserTypes): unknown {
  if (typeof type === 'string') {
    checkReadable(type, value)
    return bindPrimitive(type, value)
  }
  // The object has no prototype, because a field may have any name, such as "constructor".
  const bound = Object.create(null) as Record<string, unknown>
  for (const { name, type: fieldType } of userTypeOf(type, types).fields) {
    const field = (value as JsonObject).get(name)
    bound[name] = field === undefined ? null : bindElement(fieldType, field, types)
  }
  return bound
}

function checkReadable(type: PrimitiveName, value: Value): void {
  if (!isReadableWithin(type, value))
    throw new EngineError(
      'value',
      'in collections and user-defined types, timestamps must not be later than the ' +
        'year 275760',
    )
}

/**
 * All encodings that a cluster may have of an element. A value of a user-defined type lacks the
 * fields that were added to the type after it was written.
 */
export function elementSpellings(
  type: ElementType,
  value: Value,
  types: UserTypes,
): readonly Buffer[] {
  if (typeof type === 'string') return [bytesOfElement(type, value, types)]
  const parts = partsOf(type, value as JsonObject, types)
  const last = parts.findLastIndex((part) => part !== undefined)
  const counts = parts.map((_, position) => position + 1).filter((count) => count > last)
  return counts.map((count) => Buffer.concat(parts.slice(0, count).flatMap(withLength)))
}

/** Encodes all spellings of the elements as a list. */
export function* bytesOfSpellings(
  type: ElementType,
  elements: readonly Value[],
  types: UserTypes,
): Steps<Buffer> {
  const pace = new Pace()
  const spellings: Buffer[] = []
  for (const element of elements) {
    if (pace.isDue()) yield
    spellings.push(...elementSpellings(type, element, types))
  }
  return yield* bytesOfCollection(spellings, (spelling) => [spelling])
}

/** Encodes the fields of a user-defined type; undefined where the value lacks a field. */
function partsOf(
  type: Exclude<ElementType, string>,
  value: JsonObject,
  types: UserTypes,
): (Buffer | undefined)[] {
  return userTypeOf(type, types).fields.map(({ name, type: fieldType }) => {
    const field = value.get(name)
    if (field === undefined) return undefined
    checkReadable(fieldType, field)
    return bytesOfPrimitive(fieldType, field)
  })
}

function withLength(part: Buffer | undefined): Buffer[] {
  const length = Buffer.alloc(4)
  length.writeInt32BE(part === undefined ? -1 : part.length)
  return part === undefined ? [length] : [length, part]
}

/**
 * Converts a value from the driver; undefined for null. Cassandra does not distinguish an empty
 * collection from null.
 */
export function* readValue(
  { type }: Pick<Column, 'type'>,
  given: unknown,
  types: UserTypes,
): Steps<ColumnValue | undefined> {
  if (given === null || given === undefined) return undefined
  if (type.type === 'vector') return Float32Array.from(given as Iterable<number>)
  if (isCollection(type)) {
    const elements = yield* readElements(type, given, types)
    // Elements are normalized: other software may have written elements that are equal by our
    // rules, or in another order.
    return yield* withAdded(type, undefined, elements, types)
  }
  if (type.type !== 'userDefined') return readPrimitive(type.type, given)
  const read = readElement(type, given, types) as JsonObject
  return read.size === 0 ? undefined : read
}

function* readElements(
  type: Extract<ColumnType, { readonly type: 'list' | 'set' | 'map' }>,
  given: unknown,
  types: UserTypes,
): Steps<Value[]> {
  const pace = new Pace()
  const elements: Value[] = []
  if (type.type !== 'map') {
    for (const element of given as Iterable<unknown>) {
      if (pace.isDue()) yield
      if (element !== null) elements.push(readElement(type.valueType, element, types))
    }
    return elements
  }
  for (const [key, value] of given as Map<unknown, unknown>) {
    if (pace.isDue()) yield
    if (key === null || value === null) continue
    elements.push([
      readElement(type.keyType, key, types),
      readElement(type.valueType, value, types),
    ])
  }
  return elements
}

function readElement(type: ElementType, given: unknown, types: UserTypes): Value {
  if (typeof type === 'string') return readPrimitive(type, given)
  const fields = given as Record<string, unknown>
  const read: JsonObject = new Map()
  for (const { name, type: fieldType } of userTypeOf(type, types).fields) {
    const field = Object.hasOwn(fields, name) ? fields[name] : null
    if (field !== null && field !== undefined)
      read.set(name, readPrimitive(fieldType, field))
  }
  return read
}

/** Encodes 4-byte floats, big-endian. */
export function bytesOfVector(numbers: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (let i = 0; i < numbers.length; i++) bytes.writeFloatBE(numbers[i]!, i * 4)
  return bytes
}
