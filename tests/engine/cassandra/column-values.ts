/** Random column types, and random values in the form of requests. */
import fc from 'fast-check'
import { readNumeral } from '../../../src/json/decimal.ts'
import type { Value } from '../../../src/json/value.ts'
import {
  primitiveNames,
  type ColumnType,
  type ElementType,
  type PrimitiveName,
  type UserTypes,
} from '../../../src/language/columns/column-type.ts'
import { isTextual } from '../../../src/language/columns/collections.ts'
import { printDay } from '../../../src/language/columns/calendar.ts'
import { timestampAt } from '../../../src/language/columns/timestamps.ts'

const plain = { noNullPrototype: true } as const

const written = primitiveNames.filter((name) => name !== 'counter')

export function columnTypes(userTypes: readonly string[]): fc.Arbitrary<ColumnType> {
  const primitive = fc.constantFrom(...written)
  const userType = fc
    .constantFrom(...userTypes)
    .map((udtName) => ({ type: 'userDefined', udtName }) as const)
  const element: fc.Arbitrary<ElementType> = fc.oneof(primitive, userType)
  const key = fc.constantFrom(...written.filter((name) => name !== 'duration'))
  return fc.oneof(
    primitive.map((type) => ({ type })),
    fc.record({ type: fc.constantFrom('list', 'set'), valueType: element }, plain),
    fc.record({ type: fc.constant('map'), keyType: key, valueType: element }, plain),
    fc.record(
      { type: fc.constant('vector'), dimension: fc.integer({ min: 1, max: 5 }) },
      plain,
    ),
    userType,
  )
}

export function givenValues(type: ColumnType, types: UserTypes): fc.Arbitrary<Value> {
  switch (type.type) {
    case 'list':
    case 'set':
      return fc.array(givenElement(type.valueType, types), { maxLength: 5 })
    case 'map':
      return givenMap(type, types)
    case 'vector':
      return fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
        minLength: type.dimension,
        maxLength: type.dimension,
      })
    case 'userDefined':
      return givenElement(type, types)
    default:
      return givenPrimitive(type.type, true)
  }
}

function givenMap(
  { keyType, valueType }: Extract<ColumnType, { readonly type: 'map' }>,
  types: UserTypes,
): fc.Arbitrary<Value> {
  const entry = fc.tuple(givenPrimitive(keyType, false), givenElement(valueType, types))
  const entries = fc.uniqueArray(entry, {
    maxLength: 5,
    selector: ([key]) => JSON.stringify(key instanceof Map ? [...key] : key),
  })
  return entries.map((pairs) =>
    pairs.length === 0 || isTextual(keyType)
      ? new Map(pairs as [string, Value][])
      : pairs.map(([key, value]) => [key, value]),
  )
}

function givenElement(type: ElementType, types: UserTypes): fc.Arbitrary<Value> {
  if (typeof type === 'string') return givenPrimitive(type, false)
  const { fields } = types.find(({ name }) => name === type.udtName)!
  const records = fc.tuple(
    ...fields.map(({ name, type: fieldType }) =>
      fc.option(givenPrimitive(fieldType, false)).map((value) => [name, value] as const),
    ),
  )
  return records.map((pairs) => new Map(pairs))
}

const whole = (bits: number) => {
  const max = 2n ** BigInt(bits - 1)
  const values = fc.oneof(
    fc.bigInt({ min: -max, max: max - 1n }),
    fc.constantFrom(-max, max - 1n, 0n, -1n),
  )
  return values.map((value) => readNumeral(String(value)))
}

const named = fc.constantFrom('NaN', 'Infinity', '-Infinity')

const two = (max: number) =>
  fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'))

/**
 * Random values of a primitive type. Timestamps of whole columns (`isColumn`) are within 2^40 ms,
 * or 35 years, of 1970. All other timestamps are anywhere in the range of a JavaScript Date.
 */
function givenPrimitive(name: PrimitiveName, isColumn: boolean): fc.Arbitrary<Value> {
  switch (name) {
    case 'ascii':
      return fc.string({ unit: 'binary-ascii' })
    case 'text':
      return fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', '__proto__', 'constructor', 'ß', '�', '🦉'),
      )
    case 'bigint':
    case 'counter':
      return whole(64)
    case 'int':
      return whole(32)
    case 'smallint':
      return whole(16)
    case 'tinyint':
      return whole(8)
    case 'varint':
      return whole(500)
    case 'decimal':
      return fc
        .tuple(
          fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
          fc.integer({ min: -50, max: 50 }),
        )
        .map(([digits, power]) => readNumeral(`${digits}e${power}`))
    case 'double':
      return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), named)
    case 'float':
      return fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), named)
    case 'boolean':
      return fc.boolean()
    case 'blob':
      return fc
        .uint8Array({ maxLength: 40 })
        .map((bytes) => new Map([['$binary', Buffer.from(bytes).toString('base64')]]))
    case 'date':
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(printDay)
    case 'time':
      return fc
        .tuple(two(23), two(59), two(59), fc.integer({ min: 0, max: 999_999_999 }))
        .map(([h, m, s, nanos]) => `${h}:${m}:${s}.${String(nanos).padStart(9, '0')}`)
    case 'timestamp': {
      const max = isColumn ? 2n ** 40n : 8_640_000_000_000_000n
      return fc.bigInt({ min: -max, max }).map(timestampAt)
    }
    case 'duration':
      return fc
        .tuple(
          fc.boolean(),
          fc.nat(),
          fc.nat(),
          fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        )
        .map(([negative, mo, d, ns]) => `${negative ? '-' : ''}${mo}mo${d}d${ns}ns`)
    case 'inet':
      return fc.oneof(fc.ipV4(), fc.ipV6())
    case 'uuid':
      return fc.uuid()
    case 'timeuuid':
      return fc.uuid({ version: 1 })
  }
}
