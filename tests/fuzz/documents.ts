/** Random documents, and the clauses of commands on collections. */
import { defaultLimits } from '../../src/limits.ts'
import type { Hand } from './hand.ts'
import { Literal } from './input.ts'

const limits = defaultLimits

/** Names of fields. There are few, so that clauses often match fields of documents. */
const names = ['n', 's', 'b', 'z', 'list', 'deep', 'when', 'u', 'tags', 'a&.b'] as const

export const paths = [
  ...names,
  '_id',
  'deep.er',
  'deep.er.est',
  'list.0',
  'list.3.x',
  'tags.1',
  'when.$date',
  'n.x',
  'unindexed',
  'unindexed.x',
] as const

export function id(hand: Hand): unknown {
  return hand.oneOf(
    () => hand.random.below(40),
    () => `id-${hand.random.below(40)}`,
    () => null,
    () => hand.random.oneIn(2),
    () => ({ $date: hand.random.below(5) }),
    () => ({ $uuid: `00000000-0000-4000-8000-00000000000${hand.random.below(5)}` }),
    () => ({ $objectId: `0123456789abcdef0123456${hand.random.below(5)}` }),
    () => hand.random.below(40) / 4,
  )
}

export function scalar(hand: Hand): unknown {
  return hand.oneOf(
    () => hand.random.below(10),
    () => hand.random.below(1_000) / 8 - 50,
    () => new Literal(`${hand.random.below(1_000)}.${'0123456789'.repeat(3)}1`),
    () => `text ${hand.random.below(10)}`,
    () => hand.pick(['', 'é💥', 'a "quoted" \\ text\n', 'Ω'.repeat(300)]),
    () => hand.random.oneIn(2),
    () => null,
    () => ({ $date: hand.random.below(2 ** 31) * 1_000 }),
    () => ({ $uuid: '00000000-0000-4000-8000-000000000000' }),
    () => ({ $objectId: '0123456789abcdef01234567' }),
    () => ({ $binary: 'AAAA' }),
  )
}

export function value(hand: Hand, depth = 0): unknown {
  if (depth > 3 || hand.random.oneIn(2)) return scalar(hand)
  return hand.oneOf(
    () => scalar(hand),
    () => hand.few(0, () => value(hand, depth + 1)),
    () => hand.mapping(names, hand.random.below(4), () => value(hand, depth + 1)),
  )
}

/** Search features of a collection. */
export interface Abilities {
  /** Dimension of the collection's vectors; 0: the collection has no vectors. */
  readonly dimension: number
  /** Whether the collection has an embedding provider. */
  readonly embeds: boolean
}

export function document(hand: Hand, can: Abilities): unknown {
  if (hand.random.oneIn(60)) return edgeDocument(hand)
  return {
    ...hand.members(
      {},
      {
        _id: () => id(hand),
        n: () => hand.random.below(10),
        s: () => `text ${hand.random.below(10)}`,
        list: () => hand.few(0, () => value(hand, 1)),
        deep: () => ({ er: { est: value(hand, 2) } }),
        unindexed: () => value(hand),
      },
    ),
    ...hand.mapping(names, hand.random.below(5), () => value(hand)),
    ...searchFields(hand, can),
  }
}

/** Search fields of a document. They may conflict if `hand.slips` returns true. */
function searchFields(hand: Hand, { dimension, embeds }: Abilities): object {
  const fields: Record<string, unknown> = {}
  const set = (name: string, make: () => unknown) => (fields[name] = hand.write(make))
  const isHybrid = embeds && hand.random.oneIn(6)
  if (isHybrid || hand.slips())
    set('$hybrid', () =>
      hand.oneOf(
        () => words(hand),
        () =>
          hand.members({}, { $vectorize: () => words(hand), $lexical: () => words(hand) }),
      ),
    )
  if (isHybrid && !hand.slips()) return fields
  if (hand.random.oneIn(2)) set('$lexical', () => words(hand))
  if (embeds && hand.random.oneIn(2)) set('$vectorize', () => words(hand))
  else if (dimension > 0 && !hand.random.oneIn(4))
    set('$vector', () => vector(hand, dimension))
  if (hand.slips()) set('$vectorize', () => words(hand))
  if (hand.slips()) set('$vector', () => vector(hand, 3))
  return fields
}

/** A document at or just beyond one of the size limits. */
function edgeDocument(hand: Hand): unknown {
  const times = (length: number, one: (n: number) => string, between = ',') =>
    Array.from({ length }, (_, n) => one(n)).join(between)
  const field = (text: string) => new Literal(`{"e":${text}}`)
  const nested = (depth: number) =>
    field('{"a":'.repeat(depth - 1) + '1' + '}'.repeat(depth - 1))
  return hand.oneOf(
    () => nested(hand.edge(limits.documentDepthMax)),
    () => ({ e: 'x'.repeat(hand.edge(limits.stringSizeMax)) }),
    () => ({ unindexed: 'x'.repeat(hand.edge(limits.stringSizeMax)) }),
    () => field(`[${times(hand.edge(limits.arrayLengthMax), String)}]`),
    () => field(`{${times(hand.edge(limits.objectPropertiesMax), (n) => `"p${n}":0`)}}`),
    () =>
      new Literal(
        `{${times(
          4,
          (part) =>
            `"o${part}":{${times(
              hand.edge(limits.documentPropertiesMax / 4),
              (n) => `"p${n}":0`,
            )}}`,
        )}}`,
      ),
    () => ({ ['k'.repeat(hand.edge(limits.pathLengthMax))]: 1 }),
    () => ({ a: { ['k'.repeat(hand.edge(limits.pathLengthMax - 2))]: 1 } }),
    () => field('9'.repeat(hand.edge(limits.numeralLengthMax))),
    () => ({ $lexical: 'word '.repeat(hand.edge(limits.lexicalSizeMax / 4)) }),
    () => ({ $lexical: 'x'.repeat(hand.edge(limits.lexicalSizeMax)) }),
    () => ({ unindexed: 'x'.repeat(hand.edge(limits.documentLengthMax - 60)) }),
  )
}

export function vector(hand: Hand, dimension = 3): unknown {
  const numbers = () =>
    Array.from({ length: dimension }, () => (hand.random.below(201) - 100) / 100)
  if (hand.slips())
    return hand.pick([
      () => Array.from({ length: hand.edge(limits.vectorDimensionMax) }, () => 0.5),
      () => numbers().fill(0),
      () => numbers().fill(1e39),
      () => numbers().fill(1e17),
      () => numbers().fill(1e-45),
      () => [new Literal('1e400'), ...numbers().slice(1)],
      () => [new Literal('-1e-400'), ...numbers().slice(1)],
      () => ['NaN', ...numbers().slice(1)],
      () => [null, ...numbers().slice(1)],
      () => numbers().slice(1),
      () => [...numbers(), 1],
      () => ({
        $binary: Buffer.from('7fc000007f800000ff800000', 'hex').toString('base64'),
      }),
      () => ({
        $binary: Buffer.alloc(4 * dimension, 1)
          .toString('base64')
          .slice(1),
      }),
      () => ({ $binary: Buffer.alloc(4 * dimension + 1, 1).toString('base64') }),
    ])()
  if (!hand.random.oneIn(4)) return numbers()
  const bytes = Buffer.alloc(4 * dimension)
  numbers().forEach((x, at) => bytes.writeFloatBE(x || 1, at * 4))
  return { $binary: bytes.toString('base64') }
}

const vocabulary = 'some blue words and a few others ab bab éclair 東京 running x1'.split(
  ' ',
)

export function words(hand: Hand): unknown {
  return hand.write(() => {
    const count = 1 + hand.random.below(6)
    return Array.from({ length: count }, () => hand.pick(vocabulary)).join(' ')
  })
}

export function filter(hand: Hand): unknown {
  if (hand.random.oneIn(80)) return edgeFilter(hand)
  if (hand.random.oneIn(15))
    return { $lexical: hand.write(() => ({ $match: words(hand) })) }
  if (hand.random.oneIn(30))
    return { $vector: hand.write(() => ({ $exists: hand.random.oneIn(2) })) }
  const parts = filterParts(hand, 0)
  if (hand.random.oneIn(4)) parts['_id'] = hand.write(() => idCondition(hand))
  return parts
}

function filterParts(hand: Hand, depth: number): Record<string, unknown> {
  const fitting = paths.filter((path) => path !== '_id' && !path.startsWith('unindexed'))
  const parts: Record<string, unknown> = {
    ...hand.mapping(fitting, hand.random.below(3), () => condition(hand)),
  }
  const inner = () => hand.write(() => filterParts(hand, depth + 1))
  if (depth < 3 && hand.random.oneIn(3))
    parts[hand.pick(['$and', '$or'])] = hand.write(() => hand.few(0, inner))
  if (depth < 3 && hand.random.oneIn(6)) parts['$not'] = inner()
  if (hand.slips()) parts[hand.pick([...paths, '$vector', '$lexical'])] = condition(hand)
  return parts
}

function idCondition(hand: Hand): unknown {
  return hand.oneOf(
    () => id(hand),
    () => ({ $in: hand.few(0, () => id(hand)) }),
    () => ({ [hand.pick(['$ne', '$gt', '$lte'])]: id(hand) }),
  )
}

/** A value that can be compared, or any value if `hand.slips` returns true. */
function comparable(hand: Hand): unknown {
  if (hand.slips()) return value(hand)
  return hand.pick([
    () => hand.random.below(10),
    () => new Literal(`${hand.random.below(60)}.5000000000000000000001`),
    () => `text ${hand.random.below(10)}`,
    () => hand.random.oneIn(2),
    () => ({ $date: hand.random.below(60) * 1_000 }),
  ])()
}

function condition(hand: Hand): unknown {
  const one = () => hand.write(() => comparable(hand))
  return hand.oneOf(
    one,
    () => null,
    () => ({ [hand.pick(['$eq', '$ne'])]: hand.write(() => withoutBytes(hand)) }),
    () => ({ [hand.pick(['$gt', '$gte', '$lt', '$lte'])]: one() }),
    () => ({ $gt: one(), $lte: one() }),
    () => ({ [hand.pick(['$in', '$nin', '$all'])]: hand.few(1, () => withoutBytes(hand)) }),
    () => ({ $exists: hand.random.oneIn(2) }),
    () => ({ $size: hand.random.below(4) }),
    () => (hand.slips() ? { $not: { $eq: one() } } : one()),
  )
}

/** A value that is not binary, because filters reject binary operands. */
function withoutBytes(hand: Hand): unknown {
  const made = value(hand)
  return JSON.stringify(made).includes('$binary') && !hand.slips() ? null : made
}

function edgeFilter(hand: Hand): unknown {
  const values = (length: number) => Array.from({ length }, (_, n) => n)
  return hand.oneOf(
    () => ({ n: { $in: values(hand.edge(limits.inValuesMax)) } }),
    () => ({ _id: { $in: values(hand.edge(limits.inValuesMax)) } }),
    () => ({ n: { $all: values(hand.edge(limits.filterComparisonsMax)) } }),
    () => ({
      $and: values(hand.edge(limits.filterComparisonsMax)).map((n) => ({ n: { $ne: n } })),
    }),
    () => ({
      $or: values(hand.edge(limits.filterComparisonsMax)).map((n) => ({ s: `${n}` })),
    }),
    () => ({ n: { $eq: values(hand.edge(limits.clausePartsMax)) } }),
    () => new Literal('{"$not":'.repeat(240) + '{}' + '}'.repeat(240)),
    () => new Literal('{"$and":['.repeat(240) + '{}' + ']}'.repeat(240)),
    () => ({ [`${'a.'.repeat(limits.pathLengthMax / 2)}a`]: 1 }),
  )
}

export function sort(hand: Hand, { dimension, embeds }: Abilities): unknown {
  const byPaths = (count: number) => () =>
    hand.mapping(sortable, count, () => hand.pick([1, -1]))
  const searches = [
    ...(dimension > 0
      ? [() => ({ $vector: hand.write(() => vector(hand, dimension)) })]
      : []),
    ...(embeds ? [() => ({ $vectorize: words(hand) })] : []),
    () => ({ $lexical: words(hand) }),
  ]
  return hand.choose<() => unknown>(
    [byPaths(1), byPaths(1 + hand.random.below(3)), ...searches, () => ({})],
    [
      () => ({ ...byPaths(1)(), $vector: vector(hand) }),
      () => ({ $vector: vector(hand), $lexical: words(hand) }),
      () => ({ $vectorize: words(hand) }),
      () => hand.mapping(paths, 2, () => hand.pick([0, 2, '1', true, null])),
    ],
  )()
}

const sortable = paths.filter((path) => !path.startsWith('unindexed'))

export function projection(hand: Hand): unknown {
  const fields = [...paths, '$vector', '$lexical', '$vectorize']
  // No path in this list is a prefix of another, because a projection does not allow it.
  const apart = ['n', 's', 'list', 'deep.er.est', 'when', '_id', '$vector', '$lexical']
  const some = (flag: unknown) =>
    hand.mapping(hand.choose([apart], [fields]), 1 + hand.random.below(3), () => flag)
  return hand.choose<() => unknown>(
    [
      () => some(hand.pick([1, true])),
      () => some(hand.pick([0, false])),
      () => ({
        list: {
          $slice: hand.oneOf(
            () => hand.random.below(9) - 4,
            () => [hand.random.below(9) - 4, 1 + hand.random.below(4)],
          ),
        },
      }),
      () => ({ deep: { er: { est: hand.pick([0, 1]) } } }),
      () => ({ '*': hand.pick([0, 1]) }),
      () => ({}),
    ],
    [
      () => hand.mapping([...fields, '*', '$similarity'], 3, () => hand.pick([0, 1])),
      () => ({
        [hand.pick(fields)]: { $slice: hand.pick<unknown>([[], [1], ['x'], 1.5, null]) },
      }),
    ],
  )()
}

/** Paths for each update operator, so that no two operators conflict. */
const operators = {
  $set: ['s', 'z', 'deep.er'],
  $setOnInsert: ['o', 'p.q'],
  $unset: ['b', 'unindexed.x'],
  $inc: ['n', 'count'],
  $mul: ['m'],
  $min: ['least'],
  $max: ['most.of.all'],
  $rename: ['u'],
  $push: ['list'],
  $pop: ['tags'],
  $addToSet: ['set'],
  $pull: ['pulled'],
  $pullAll: ['all.pulled'],
  $currentDate: ['when'],
} as const

type Operator = keyof typeof operators

export function update(hand: Hand, can: Abilities): unknown {
  const known = Object.keys(operators) as Operator[]
  return hand.mapping(known, 1 + hand.random.below(3), (name) => {
    const operator = (known as string[]).includes(name) ? (name as Operator) : '$set'
    const places = hand.choose<readonly string[]>(
      [operators[operator]],
      [paths, ['$vector', '$lexical', '$vectorize', '$hybrid', '_id']],
    )
    const changed = hand.mapping(places, 1 + hand.random.below(2), () =>
      argument(hand, operator),
    )
    return operator === '$set' && hand.random.oneIn(4)
      ? { ...changed, ...searchFields(hand, can) }
      : changed
  })
}

function argument(hand: Hand, operator: Operator): unknown {
  switch (operator) {
    case '$set':
    case '$setOnInsert':
    case '$min':
    case '$max':
      return value(hand)
    case '$unset':
      return ''
    case '$inc':
    case '$mul':
      return hand.oneOf(
        () => hand.random.below(21) - 10,
        () => 0.1,
        () => new Literal('1e300'),
        () => new Literal('9'.repeat(limits.numeralLengthMax)),
        () => new Literal('1e-300'),
      )
    case '$rename':
      return hand.choose<string>(['renamed', 'renamed.too'], paths)
    case '$push':
      return hand.oneOf(
        () => value(hand),
        () => ({ $each: hand.few(0, () => value(hand)) }),
        () => ({
          $each: hand.few(0, () => value(hand)),
          $position: hand.random.below(9) - 4,
        }),
      )
    case '$addToSet':
      return hand.oneOf(
        () => value(hand),
        () => ({ $each: hand.few(0, () => value(hand)) }),
      )
    case '$pull':
      return hand.oneOf(
        () => value(hand),
        () => ({ $gt: value(hand) }),
        () => ({ $in: hand.few(0, () => value(hand)) }),
        () => ({ [hand.choose<string>(['x', '_id'], paths)]: value(hand) }),
        () => ({ $or: hand.few(0, () => ({ x: value(hand) })) }),
      )
    case '$pullAll':
      return hand.few(0, () => value(hand))
    case '$pop':
      return hand.choose([1, -1], [0, 2])
    case '$currentDate':
      return hand.oneOf(
        () => true,
        () => ({ $type: 'date' }),
      )
  }
}
