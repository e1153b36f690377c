/** Random definitions for schema commands: collections, tables, types and indexes. */
import { defaultLimits } from '../../src/limits.ts'
import { analyzer } from './analyzers.ts'
import { paths } from './documents.ts'
import type { Hand } from './hand.ts'
import { columnNames, columns } from './rows.ts'

const limits = defaultLimits

/** Names for objects that inputs create. Objects of the test itself have other names. */
export function name(hand: Hand): unknown {
  return hand.choose(
    [`spare${hand.random.below(6)}`],
    [
      's'.repeat(hand.edge(limits.nameLengthMax)),
      'with space',
      'ünï',
      'system',
      '',
      '_x',
      '1',
    ],
  )
}

export function keyspaceName(hand: Hand): unknown {
  return hand.choose(
    [`spare_keyspace${hand.random.below(3)}`],
    ['k'.repeat(hand.edge(limits.nameLengthMax)), 'no-name', '', 'ünï'],
  )
}

export function service(hand: Hand): unknown {
  return hand.members(
    {
      provider: () =>
        hand.choose(['openai'], ['nvidia', 'cohere', 'nobody', 'bedrock', '']),
      modelName: () =>
        hand.choose<unknown>(
          ['text-embedding-3-small'],
          ['text-embedding-ada-002', 'NV-Embed-QA', 'none', null],
        ),
    },
    {
      ...(hand.slips() && {
        authentication: () =>
          hand.members({}, { providerKey: () => 'team', accessId: () => 'x', x: () => 1 }),
        parameters: () =>
          hand.members(
            {},
            { organizationId: () => 'x', baseUrl: () => 'http://127.0.0.1:1/' },
          ),
      }),
    },
  )
}

export function collectionOptions(hand: Hand): unknown {
  const { vectorDimensionMax } = limits
  return hand.members(
    {},
    {
      defaultId: () =>
        hand.members({
          type: () => hand.choose(['uuid', 'uuidv6', 'uuidv7', 'objectId'], ['', 'UUID']),
        }),
      vector: () =>
        hand.members(
          { dimension: () => hand.choose([1, 2, 3, vectorDimensionMax], oddDimensions) },
          {
            metric: () =>
              hand.choose(['cosine', 'dot_product', 'euclidean'], ['manhattan']),
            sourceModel: () => hand.choose(['other', 'bert', 'ada002'], ['nobody']),
            memory: () => hand.choose(['low', 'balanced', 'fast'], ['none']),
            ...(hand.random.oneIn(3) && { service: () => service(hand) }),
          },
        ),
      indexing: () =>
        hand.members({
          [hand.pick(['allow', 'deny'])]: () =>
            hand.random.oneIn(4)
              ? ['*']
              : [...new Set(hand.few(1, () => hand.choose<string>(paths, oddPaths)))],
        }),
      lexical: () =>
        hand.random.oneIn(6)
          ? { enabled: false }
          : hand.members({ enabled: () => true }, { analyzer: () => analyzer(hand) }),
      rerank: () =>
        hand.random.oneIn(2)
          ? { enabled: false }
          : hand.members(
              { enabled: () => true },
              {
                service: () =>
                  hand.members({
                    provider: () => hand.choose(['nvidia'], ['cohere', 'nobody']),
                    modelName: () =>
                      hand.choose(['nvidia/llama-3.2-nv-rerankqa-1b-v2'], ['x', '']),
                  }),
              },
            ),
    },
  )
}

const oddDimensions = [0, -1, 1.5, limits.vectorDimensionMax + 1]
const oddPaths = ['$vector', '$vectorize', '_id', 'a.b', '', '*', 'a..b', '$x', 'a.$x']

const primitives = columnNames
  .map((column) => columns[column]!)
  .filter((type) => typeof type === 'string')

/** Types that are invalid for columns, or unknown here. */
const oddTypes: readonly unknown[] = [
  'counter',
  'timeuuid',
  'tuple',
  'INT',
  { type: 'vector' },
  { type: 'vector', dimension: limits.vectorDimensionMax + 1 },
  { type: 'list' },
  { type: 'list', valueType: 'list' },
  { type: 'set', valueType: { type: 'userDefined', udtName: 'nobody' } },
  { type: 'map', keyType: 'text' },
  { type: 'map', keyType: 'duration', valueType: 'counter' },
  { type: 'map', keyType: { type: 'userDefined', udtName: 'address' }, valueType: 'int' },
  { type: 'userDefined', udtName: 'nobody' },
  { type: 'userDefined', udtName: 'spare1' },
  { type: 'frozen', valueType: 'int' },
]

export function columnType(hand: Hand): unknown {
  return hand.choose<() => unknown>(
    [
      () => columns[hand.pick(columnNames)]!,
      () => hand.pick(primitives),
      () => ({ type: hand.pick(primitives) }),
      () => ({ type: hand.pick(['list', 'set']), valueType: hand.pick(primitives) }),
      () => ({ type: 'vector', dimension: 2, service: service(hand) }),
    ],
    [
      () => hand.pick(oddTypes),
      () => ({ type: 'list', valueType: columnType(hand) }),
      () => ({ type: 'map', keyType: columnType(hand), valueType: columnType(hand) }),
    ],
  )()
}

/** A type for a field of a user-defined type. */
export function fieldType(hand: Hand): unknown {
  return hand.slips() ? columnType(hand) : hand.pick(primitives)
}

export function tableDefinition(hand: Hand): unknown {
  if (hand.random.oneIn(60)) {
    const count = hand.edge(limits.columnsMax)
    const many = Array.from({ length: count }, (_, n) => [`c${n}`, 'int'] as const)
    return { columns: Object.fromEntries(many), primaryKey: 'c0' }
  }
  const some = columnNames.filter((column) => column !== 'id' && hand.random.oneIn(3))
  const keys = [
    'id',
    ...some.filter(
      (column) => column !== 'c_duration' && typeof columns[column] === 'string',
    ),
  ]
  const key = () => hand.choose(keys, [...columnNames, 'nobody'])
  const cut = 1 + hand.random.below(2)
  return hand.members({
    columns: () => ({
      id: 'text',
      ...Object.fromEntries(
        some.map((column) => [
          column,
          keys.includes(column) && !hand.slips() ? columns[column] : columnType(hand),
        ]),
      ),
    }),
    primaryKey: () =>
      hand.random.oneIn(3)
        ? key()
        : hand.members(
            {
              partitionBy: () =>
                hand.slips() ? hand.few(0, key) : keys.slice(0, Math.min(cut, keys.length)),
            },
            {
              partitionSort: () =>
                hand.slips()
                  ? hand.mapping(keys, 1 + hand.random.below(2), () =>
                      hand.pick([1, -1, 0]),
                    )
                  : Object.fromEntries(
                      keys
                        .slice(cut, cut + 2)
                        .map((column) => [column, hand.pick([1, -1])]),
                    ),
            },
          ),
  })
}

export function alteration(hand: Hand): unknown {
  const added = ['x1', 'x2', 'x3']
  const dropped = () =>
    hand.choose([...added, 'c_time', 'c_smallint'], [...columnNames, 'nobody'])
  const embedded = () => hand.choose(['v', 'w'], ['n', 'l_text', 'nobody', 'id'])
  const [operation, make] = hand.pick<readonly [string, () => unknown]>([
    ['add', () => ({ columns: hand.mapping(added, 1, () => columnType(hand)) })],
    ['drop', () => ({ columns: [...new Set(hand.few(1, dropped))] })],
    [
      'addVectorize',
      () => ({ columns: { [embedded()]: hand.write(() => service(hand)) } }),
    ],
    ['dropVectorize', () => ({ columns: [embedded()] })],
  ])
  return hand.members({ [operation]: make })
}

const indexable = columnNames.filter(
  (column) =>
    !['id', 'v', 'w', 'c_duration', 'udt', 'l_udt', 'm_text', 'm_int'].includes(column),
)

export function indexFields(hand: Hand, kind: 'regular' | 'vector' | 'text'): object {
  const { options, fitting } = {
    regular: {
      fitting: indexable,
      options: { caseSensitive: () => false, normalize: () => true, ascii: () => true },
    },
    vector: {
      fitting: ['v', 'w'],
      options: {
        metric: () => hand.choose(['cosine', 'euclidean', 'dot_product'], ['x', '']),
        sourceModel: () => hand.choose(['other', 'bert'], ['x']),
      },
    },
    text: {
      fitting: ['c_text', 'c_words', 'c_ascii', 'id'],
      options: { analyzer: () => analyzer(hand) },
    },
  }[kind]
  const column = () => hand.choose<string>(fitting, [...columnNames, 'nobody'])
  return hand.members(
    {
      name: () =>
        hand.choose(
          [`spare_index${hand.random.below(6)}`],
          ['i'.repeat(hand.edge(limits.indexNameLengthMax)), '', 'with space', 'by_v'],
        ),
      definition: () =>
        hand.members(
          {
            column: () =>
              hand.random.oneIn(4) && kind === 'regular'
                ? {
                    [hand.choose(['m_text', 'm_int'], columnNames)]: hand.choose(
                      ['$keys', '$values'],
                      ['$x', ''],
                    ),
                  }
                : column(),
          },
          // Only text columns have options for analysis or case.
          hand.random.oneIn(3) ? { options: () => hand.members({}, options) } : {},
        ),
    },
    {
      indexType: () => hand.choose([kind], ['regular', 'vector', 'text', 'x']),
      options: () => hand.members({}, { ifNotExists: () => hand.random.oneIn(2) }),
    },
  )
}
