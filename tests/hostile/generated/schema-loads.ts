/** Hostile changes of schemas. */
import type { Choices } from './choices.ts'
import { fields } from './choices.ts'
import { commandTo, type RequestLoad } from './load.ts'
import { keyspace, modelOptions } from './targets.ts'

/** Collections whose analyzers are expensive to create, to store or to run. */
export function analyzers(choices: Choices): RequestLoad {
  const filter = choices.pick(Object.keys(filterOf))
  const count = choices.size(1, 31)
  const size = choices.size(10, Math.floor(15_000_000 / count))
  const tokenizer = choices.pick([
    'standard',
    'keyword',
    'whitespace',
    'thai',
    'nGram',
    'uax29UrlEmail',
  ])
  const name = madeName(choices)
  const analyzer = {
    tokenizer: {
      name: tokenizer,
      ...(tokenizer === 'nGram' && { args: { minGramSize: 1, maxGramSize: 200 } }),
    },
    filters: Array.from({ length: count }, (_, n) =>
      filterOf[filter]!(Math.min(size, 990_000), n),
    ),
  }
  const text = choices.text(choices.size(10, 8_000))
  const at = `${keyspace}/${name}`
  return {
    says: `collection with ${count} ${filter} filters of ${size} characters, ${tokenizer} tokenizer`,
    requests: [
      commandTo(keyspace, {
        createCollection: { name, options: { lexical: { enabled: true, analyzer } } },
      }),
      commandTo(at, {
        insertMany: { documents: [{ $lexical: text }, { $lexical: 'some words' }] },
      }),
      commandTo(at, { find: { sort: { $lexical: text } } }),
      commandTo(keyspace, { deleteCollection: { name } }),
    ],
  }
}

type MakeFilter = (size: number, n: number) => object

const words = (size: number, n: number, between: string) =>
  Array.from({ length: Math.max(1, Math.floor(size / 10)) }, (_, at) => `w${n}x${at}`).join(
    between,
  )

const filterOf: Readonly<Record<string, MakeFilter>> = {
  synonym: (size, n) => ({ name: 'synonym', args: { synonyms: words(size, n, ', ') } }),
  synonymGraph: (size, n) => ({
    name: 'synonymGraph',
    args: { synonyms: words(size, n, ' => a\n') },
  }),
  stop: (size, n) => ({ name: 'stop', args: { words: words(size, n, ', ') } }),
  keepWord: (size, n) => ({ name: 'keepWord', args: { words: words(size, n, ', ') } }),
  patternReplace: (size) => ({
    name: 'patternReplace',
    args: { pattern: '(x+x+)+y'.repeat(1 + (size % 40)), replacement: 'z' },
  }),
  nGram: () => ({ name: 'nGram', args: { minGramSize: 1, maxGramSize: 255 } }),
  shingle: () => ({ name: 'shingle', args: { minShingleSize: 2, maxShingleSize: 32 } }),
  lowercase: () => ({ name: 'lowercase' }),
}

/** One of four names, so that concurrent connections change the same targets. */
function madeName(choices: Choices): string {
  return `made${choices.random.below(4)}`
}

/** Collections, tables, indexes and types that are created and dropped repeatedly. */
export function schemas(choices: Choices): RequestLoad {
  const kind = choices.pick(Object.keys(schemaChanges))
  const size = choices.size(1, 1_000)
  return { says: `${kind} (${size})`, requests: schemaChanges[kind]!(choices, size) }
}

type Change = (choices: Choices, size: number) => RequestLoad['requests']

const schemaChanges: Readonly<Record<string, Change>> = {
  'createCollection and deleteCollection': (choices) => {
    const name = madeName(choices)
    const options = choices.pick([
      {},
      { vector: { dimension: 1_024 } },
      modelOptions,
      { indexing: { deny: ['*'] } },
    ])
    return [
      commandTo(keyspace, { createCollection: { name, options } }),
      commandTo(`${keyspace}/${name}`, { insertOne: { document: {} } }),
      commandTo(keyspace, { deleteCollection: { name } }),
    ]
  },
  'createCollection with a long list of unindexed paths': (choices, size) => {
    const name = madeName(choices)
    const deny = Object.keys(fields(size * 9, () => 1, 'path.to.field'))
    return [
      commandTo(keyspace, { createCollection: { name, options: { indexing: { deny } } } }),
      commandTo(`${keyspace}/${name}`, {
        insertOne: { document: { path: { to: fields(500, (n) => n, 'field') } } },
      }),
      commandTo(`${keyspace}/${name}`, { find: { filter: { b: 1 } } }),
      commandTo(keyspace, { deleteCollection: { name } }),
    ]
  },
  'createTable, alterTable and dropTable': (choices, size) => {
    const name = `${madeName(choices)}_rows`
    const columns = { id: 'text', ...fields(size, () => 'int', 'c') }
    return [
      commandTo(keyspace, {
        createTable: { name, definition: { columns, primaryKey: 'id' } },
      }),
      commandTo(`${keyspace}/${name}`, {
        alterTable: {
          operation: {
            add: { columns: fields(Math.max(1, 990 - size), () => 'text', 'd') },
          },
        },
      }),
      commandTo(`${keyspace}/${name}`, {
        insertMany: {
          documents: Array.from({ length: 50 }, (_, n) => ({
            id: `${n}`,
            ...fields(size, () => n, 'c'),
          })),
        },
      }),
      commandTo(`${keyspace}/${name}`, { find: { filter: {} } }),
      commandTo(`${keyspace}/${name}`, {
        alterTable: {
          operation: { drop: { columns: Object.keys(fields(size, () => 1, 'c')) } },
        },
      }),
      commandTo(keyspace, { dropTable: { name, options: { ifExists: true } } }),
    ]
  },
  'createIndex and dropIndex over many rows': (choices) => {
    const column = choices.pick<unknown>(['t', 's', 'm', { m: '$keys' }])
    const name = `made_index_${choices.random.below(3)}`
    return [
      commandTo(`${keyspace}/lines`, { createIndex: { name, definition: { column } } }),
      commandTo(keyspace, { dropIndex: { name } }),
    ]
  },
  'createTextIndex and createVectorIndex over many rows': (choices) => {
    const name = `made_index_${choices.random.below(3)}`
    return [
      choices.oneIn(2)
        ? commandTo(`${keyspace}/lines`, {
            createTextIndex: { name, definition: { column: 't' } },
          })
        : commandTo(`${keyspace}/lines`, {
            createVectorIndex: { name, definition: { column: 'v' } },
          }),
      commandTo(keyspace, { dropIndex: { name } }),
    ]
  },
  'createType, alterType and dropType': (choices, size) => {
    const name = madeName(choices)
    return [
      commandTo(keyspace, {
        createType: { name, definition: { fields: fields(size, () => 'text') } },
      }),
      commandTo(keyspace, {
        alterType: { name, rename: { fields: fields(size, (n) => `renamed${n}`) } },
      }),
      commandTo(keyspace, { listTypes: { options: { explain: true } } }),
      commandTo(keyspace, { dropType: { name } }),
    ]
  },
  'createKeyspace and dropKeyspace': (choices) => {
    const name = `made${choices.random.below(3)}_keyspace`
    return [
      commandTo('', { createKeyspace: { name } }),
      commandTo(`/${name}`, { createCollection: { name: 'inside' } }),
      commandTo('', { dropKeyspace: { name } }),
    ]
  },
  'lists with explain': () => [
    commandTo(keyspace, { findCollections: { options: { explain: true } } }, 'reader'),
    commandTo(keyspace, { listTables: { options: { explain: true } } }, 'reader'),
    commandTo(
      `${keyspace}/lines`,
      { listIndexes: { options: { explain: true } } },
      'reader',
    ),
    commandTo('', { findKeyspaces: {} }, 'reader'),
    commandTo('', { findEmbeddingProviders: {} }, 'reader'),
  ],
}
