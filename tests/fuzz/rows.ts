/** Random rows of tables with columns of every type, and the clauses of commands on them. */
import { defaultLimits } from '../../src/limits.ts'
import { vector, words } from './documents.ts'
import type { Hand } from './hand.ts'
import { Literal } from './input.ts'

type Type = string | { readonly type: string; readonly [part: string]: unknown }

/** One or more columns of every type that tables can be created with. */
export const columns: Readonly<Record<string, Type>> = {
  id: 'text',
  n: 'int',
  c_text: 'text',
  c_words: 'text',
  c_ascii: 'ascii',
  c_bigint: 'bigint',
  c_blob: 'blob',
  c_boolean: 'boolean',
  c_date: 'date',
  c_decimal: 'decimal',
  c_double: 'double',
  c_duration: 'duration',
  c_float: 'float',
  c_inet: 'inet',
  c_smallint: 'smallint',
  c_time: 'time',
  c_timestamp: 'timestamp',
  c_tinyint: 'tinyint',
  c_uuid: 'uuid',
  c_varint: 'varint',
  l_text: { type: 'list', valueType: 'text' },
  l_udt: { type: 'list', valueType: { type: 'userDefined', udtName: 'address' } },
  s_int: { type: 'set', valueType: 'int' },
  s_date: { type: 'set', valueType: 'date' },
  m_text: { type: 'map', keyType: 'text', valueType: 'int' },
  m_int: { type: 'map', keyType: 'int', valueType: 'text' },
  udt: { type: 'userDefined', udtName: 'address' },
  v: { type: 'vector', dimension: 3 },
  w: { type: 'vector', dimension: 2 },
}

export const columnNames = Object.keys(columns)

/** Fields of the user-defined type "address". */
export const addressFields = { street: 'text', zip: 'int', since: 'date' } as const

/** A value for a column, sometimes of another type. */
export function valueFor(hand: Hand, type: Type): unknown {
  if (hand.slips()) return valueFor(hand, columns[hand.pick(columnNames)]!)
  if (typeof type === 'string') return primitive(hand, type)
  const element = (part: unknown) => valueFor(hand, part as Type)
  switch (type.type) {
    case 'list':
    case 'set':
      return hand.few(0, () => element(type['valueType']))
    case 'map':
      return type['keyType'] === 'text'
        ? hand.mapping(['k', 'l', 'm'], hand.random.below(3), () =>
            element(type['valueType']),
          )
        : hand.few(0, () => [element(type['keyType']), element(type['valueType'])])
    case 'vector':
      return hand.slips() ? words(hand) : vector(hand, Number(type['dimension']))
    case 'userDefined':
      return hand.members(
        {},
        Object.fromEntries(
          Object.entries(addressFields).map(([name, field]) => [
            name,
            () => primitive(hand, field),
          ]),
        ),
      )
    default:
      return primitive(hand, type.type)
  }
}

const bounds: Readonly<Record<string, bigint>> = {
  tinyint: 2n ** 7n,
  smallint: 2n ** 15n,
  int: 2n ** 31n,
  bigint: 2n ** 63n,
}

function primitive(hand: Hand, type: string): unknown {
  switch (type) {
    case 'text':
    case 'ascii':
      return hand.oneOf(
        () => hand.pick(['a', 'b', 'c']),
        () => words(hand),
        () => '',
        () => 'é',
      )
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint': {
      const bound = bounds[type]!
      return hand.oneOf(
        () => hand.random.below(10),
        () => hand.random.below(10),
        () => new Literal(String(bound - 1n)),
        () => new Literal(String(-bound)),
        () => (hand.slips() ? new Literal(String(bound)) : 1),
        () => new Literal('5.00'),
        () => new Literal('1.2E+1'),
      )
    }
    case 'varint':
      return new Literal('9'.repeat(1 + hand.random.below(90)))
    case 'decimal':
      return new Literal(`${hand.random.below(99)}.${hand.random.below(10 ** 9)}e-3`)
    case 'double':
    case 'float':
      return hand.oneOf(
        () => hand.random.below(1_000) / 7,
        () => 'NaN',
        () => '-Infinity',
        () => new Literal('1e400'),
        () => new Literal('-0.0'),
      )
    case 'boolean':
      return hand.random.oneIn(2)
    case 'blob':
      return { $binary: Buffer.alloc(hand.random.below(9), 7).toString('base64') }
    case 'date':
      return hand.pick(['2024-02-29', '-5877641-06-23', '+5881580-07-11', '0001-01-01'])
    case 'time':
      return hand.pick(['14:30', '00:00:00', '23:59:59.999999999', '01:02:03.5'])
    case 'timestamp':
      return hand.oneOf(
        () => '2024-09-24T14:06:59Z',
        () => '2024-09-24T14:06:59.123+02:00',
        () => '-292275055-05-16T16:47:04.192Z',
        () => ({ $date: hand.random.below(2 ** 31) }),
      )
    case 'duration':
      return hand.pick(['1y2mo3w4d5h6m7s8ms9us10ns', 'P1Y2M3DT4H5M6S', '-P2W', '1h', 'P0D'])
    case 'inet':
      return hand.pick(['127.0.0.1', '::1', 'localhost', '::ffff:10.0.0.1', '127.1'])
    default:
      return `00000000-0000-${hand.pick(['1', '4', '7'])}000-8000-00000000000${hand.random.below(9)}`
  }
}

function key(hand: Hand): Record<string, unknown> {
  return {
    id: hand.write(() => hand.pick(['a', 'b', 'c'])),
    n: hand.write(() => hand.random.below(10)),
  }
}

export function row(hand: Hand): unknown {
  return {
    ...(hand.slips() ? {} : key(hand)),
    ...hand.mapping(columnNames.slice(2), hand.random.below(8), (name) =>
      valueFor(hand, columns[name] ?? 'text'),
    ),
  }
}

/** A filter on the whole primary key, which is `id` in some tables, and `id` and `n` in others. */
export function wholeKeyFilter(hand: Hand): unknown {
  if (hand.slips()) return rowFilter(hand)
  const { id, n } = key(hand)
  return hand.random.oneIn(3) ? { id } : { id, n }
}

/** A filter on none, some or all of the columns of the key. */
export function keyFilter(hand: Hand): unknown {
  if (hand.slips()) return rowFilter(hand)
  const { id, n } = key(hand)
  const range = { $gt: n, $lt: hand.write(() => hand.random.below(60)) }
  return hand.pick([{ id }, { id, n }, { id, n: range }, {}])
}

export function rowFilter(hand: Hand, depth = 0): unknown {
  if (hand.random.oneIn(5)) return key(hand)
  if (hand.random.oneIn(15)) return { c_words: hand.write(() => ({ $match: words(hand) })) }
  const parts: Record<string, unknown> = {
    ...hand.mapping(columnNames, hand.random.below(3), (name) =>
      rowCondition(hand, columns[name] ?? 'text'),
    ),
  }
  if (depth < 3 && hand.random.oneIn(4))
    parts[hand.pick(['$and', '$or'])] = hand.write(() =>
      hand.few(1, () => rowFilter(hand, depth + 1)),
    )
  if (depth < 3 && hand.random.oneIn(8))
    parts['$not'] = hand.write(() => rowFilter(hand, depth + 1))
  return parts
}

function rowCondition(hand: Hand, type: Type): unknown {
  const one = () => valueFor(hand, type)
  const element = () =>
    typeof type === 'object' && type['valueType'] !== undefined
      ? valueFor(hand, type['valueType'] as Type)
      : one()
  return hand.oneOf(
    one,
    () => ({ [hand.pick(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'])]: hand.write(one) }),
    () => ({ $gt: hand.write(one), $lt: hand.write(one) }),
    () => ({ [hand.pick(['$in', '$nin', '$all'])]: hand.few(1, element) }),
    () => ({ [hand.pick(['$keys', '$values'])]: { $in: hand.few(1, element) } }),
    () =>
      hand.slips()
        ? { $in: Array.from({ length: hand.edge(defaultLimits.inValuesMax) }, (_, n) => n) }
        : one(),
    () => (hand.slips() ? { $match: words(hand) } : one()),
    () => (hand.slips() ? { $exists: true } : one()),
  )
}

export function rowSort(hand: Hand): unknown {
  return hand.oneOf(
    () => ({ n: hand.pick([1, -1]) }),
    () => hand.mapping(columnNames, 1 + hand.random.below(2), () => hand.pick([1, -1])),
    () => ({ v: vector(hand, 3) }),
    () => ({ w: vector(hand, 2) }),
    () => ({ v: words(hand) }),
    () => ({ c_words: words(hand) }),
    () => ({}),
  )
}

export function rowProjection(hand: Hand): unknown {
  const flag = hand.pick([0, 1, true, false])
  return hand.mapping(columnNames, hand.random.below(4), () => flag)
}

export function rowUpdate(hand: Hand): unknown {
  const names = hand.slips() ? columnNames : columnNames.slice(2)
  const parts = hand.slips() ? columnNames : ['l_text', 's_int', 's_date', 'm_int']
  const valueOf = (name: string) => valueFor(hand, columns[name] ?? 'text')
  const several = (name: string) => {
    const given = valueOf(name)
    return Array.isArray(given) && given.length > 0 ? (given as unknown[]) : [given]
  }
  const update = {
    $set: () => hand.mapping(names, 1 + hand.random.below(4), valueOf),
    $unset: () => hand.mapping(names, 1 + hand.random.below(2), () => ''),
    $push: () =>
      hand.mapping(parts, 1, (name) =>
        hand.random.oneIn(2) ? several(name)[0] : { $each: several(name) },
      ),
    $pullAll: () => hand.mapping(parts, 1, several),
  }
  const [first, second] = [
    hand.pick(Object.entries(update)),
    hand.pick(Object.entries(update)),
  ]
  return hand.members(Object.fromEntries([first]), Object.fromEntries([second]))
}
