/** Invalid commands: random changes of valid commands. */
import type { Random } from './random.ts'
import { changeSomewhere, damageBranch, isBranch, type Odd } from './tree-damage.ts'

export interface Mutation {
  readonly path: string
  readonly body: string
}

/**
 * Generates invalid commands endlessly. Commands on the collection "kept" only read. Commands on
 * "embedded" call providers. All other commands act on "fuzzed".
 */
export function* mutationsOf(random: Random): Generator<Mutation, never, undefined> {
  for (;;) {
    const { path, command } = random.pick(valid)
    let body = JSON.stringify(command)
    let tree = JSON.parse(body) as unknown
    for (let times = random.below(3); times >= 0; times--)
      tree = mutateSomewhere(tree, random)
    body = JSON.stringify(tree)
    if (random.oneIn(6)) body = damage(body, random)
    yield { path, body }
  }
}

const kept = '/default_keyspace/kept'
const fuzzed = '/default_keyspace/fuzzed'
const embedded = '/default_keyspace/embedded'

const document = {
  n: 1.5,
  s: 'text',
  b: true,
  z: null,
  list: [1, 'two', { three: 3 }, [4]],
  deep: { er: { est: { $date: 1_700_000_000_000 } } },
  u: { $uuid: '00000000-0000-4000-8000-000000000000' },
  bin: { $binary: 'AAAA' },
}
const filter = {
  n: { $gt: 0, $lte: 100 },
  s: 'text',
  $or: [{ 'list.0': 1 }, { list: { $size: 4, $all: [1, 'two'] } }, { z: null }],
  $not: { b: { $in: [false, 1] }, deep: { $exists: false } },
}
const update = {
  $set: { 'deep.er': 1, t: [1, { a: 2 }] },
  $inc: { n: 1 },
  $push: { list: { $each: [5, 6], $position: -1 } },
  $unset: { b: '' },
  $rename: { s: 'r' },
  $max: { m: { $date: 5 } },
  $setOnInsert: { only: 1 },
}
const sort = { n: 1, 'deep.er': -1 }
const projection = { n: 1, 'deep.er.est': 1, list: { $slice: [1, 2] } }
const vector = [0.1, 0.2, 0.3]

const searches: readonly { readonly path: string; readonly command: object }[] = [
  {
    path: fuzzed,
    command: {
      insertMany: {
        documents: [
          { _id: 'v', n: 1, s: 'text', $vector: vector, $lexical: 'some words' },
          { $vector: { $binary: 'PczMzT5MzM0+mZma' }, $lexical: 'more words' },
          { $vector: null, $lexical: null },
        ],
      },
    },
  },
  {
    path: fuzzed,
    command: {
      updateOne: {
        filter: { _id: 'v' },
        update: { $set: { $vector: [1, 2, 3], $lexical: 'other words' }, $inc: { n: 1 } },
        options: { upsert: true },
      },
    },
  },
  {
    path: fuzzed,
    command: {
      updateMany: { filter: { n: { $gt: 5 } }, update: { $unset: { $vector: '', n: '' } } },
    },
  },
  {
    path: fuzzed,
    command: {
      find: {
        filter: { $or: [{ $lexical: { $match: 'words' } }, { n: 1 }] },
        sort: { $vector: vector },
        projection: { $vector: 1, $lexical: 1, n: 1 },
        options: { limit: 10, includeSimilarity: true, includeSortVector: true },
      },
    },
  },
  {
    path: fuzzed,
    command: {
      find: {
        filter: { $vector: { $exists: true }, n: { $in: [1, 2] } },
        sort: { $vector: { $binary: 'PczMzT5MzM0+mZma' } },
      },
    },
  },
  {
    path: fuzzed,
    command: {
      findOne: { sort: { $lexical: 'some words' }, projection: { '*': 1 } },
    },
  },
  {
    path: fuzzed,
    command: {
      findOneAndUpdate: {
        filter: { n: 1 },
        sort: { $vector: vector },
        update: { $set: { $lexical: 'new words' } },
        options: { returnDocument: 'after' },
      },
    },
  },
  {
    path: fuzzed,
    command: {
      findOneAndReplace: {
        sort: { $lexical: 'words' },
        replacement: { $vector: vector, $lexical: 'replaced words' },
      },
    },
  },
  {
    path: fuzzed,
    command: { deleteOne: { filter: { s: 'text' }, sort: { $lexical: 'words' } } },
  },
  { path: fuzzed, command: { deleteMany: { filter: { $lexical: { $match: 'more' } } } } },
  {
    path: fuzzed,
    command: {
      countDocuments: {
        filter: { $and: [{ $lexical: { $match: 'some words' } }, { n: { $lt: 5 } }] },
      },
    },
  },
  { path: '', command: { findRerankingProviders: {} } },
  {
    path: '/default_keyspace',
    command: {
      createCollection: {
        name: 'embedded',
        options: {
          vector: {
            dimension: 2,
            metric: 'cosine',
            service: {
              provider: 'openai',
              modelName: 'text-embedding-3-small',
              authentication: { providerKey: 'team' },
              parameters: { organizationId: 'x' },
            },
          },
          rerank: {
            enabled: true,
            service: {
              provider: 'nvidia',
              modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2',
            },
          },
        },
      },
    },
  },
  {
    path: embedded,
    command: {
      insertMany: {
        documents: [
          { _id: 'e', n: 1, $vectorize: 'a text' },
          { n: 2, $hybrid: 'ab' },
          { $hybrid: { $vectorize: 'aab', $lexical: 'ab b' } },
        ],
      },
    },
  },
  {
    path: embedded,
    command: {
      updateOne: { filter: { _id: 'e' }, update: { $set: { $vectorize: 'b text' } } },
    },
  },
  {
    path: embedded,
    command: {
      updateMany: {
        filter: { n: 2 },
        update: { $set: { $vectorize: 'bb', $lexical: 'ab' } },
      },
    },
  },
  {
    path: embedded,
    command: {
      find: {
        sort: { $vectorize: 'ab' },
        filter: { n: { $gte: 0 } },
        options: { limit: 5, includeSortVector: true },
      },
    },
  },
  {
    path: embedded,
    command: {
      findAndRerank: {
        filter: { n: { $gt: 0 } },
        projection: { n: 1, $vectorize: 1 },
        sort: { $hybrid: 'ab' },
        options: {
          limit: 5,
          hybridLimits: { $vector: 5, $lexical: 5 },
          includeScores: true,
          includeSortVector: true,
        },
      },
    },
  },
  {
    path: embedded,
    command: {
      findAndRerank: {
        sort: { $hybrid: { $vectorize: 'ab', $lexical: 'ab b' } },
        options: {
          hybridLimits: 5,
          rerankOn: '$lexical',
          rerankQuery: 'b',
          rerank: {
            provider: 'nvidia',
            modelName: 'nvidia/llama-3.2-nv-rerankqa-1b-v2',
          },
        },
      },
    },
  },
]

const valid: readonly { readonly path: string; readonly command: object }[] = [
  ...searches,
  { path: '', command: { findKeyspaces: {} } },
  {
    path: '',
    command: {
      createKeyspace: {
        name: 'spare',
        options: { replication: { class: 'SimpleStrategy', replication_factor: 1 } },
      },
    },
  },
  { path: '', command: { dropKeyspace: { name: 'spare' } } },
  { path: '', command: { findEmbeddingProviders: { options: { filterModelStatus: '' } } } },
  {
    path: '/default_keyspace',
    command: { findCollections: { options: { explain: true } } },
  },
  {
    path: '/default_keyspace',
    command: {
      createCollection: {
        name: 'fuzzed',
        options: {
          defaultId: { type: 'uuidv7' },
          vector: { dimension: 3, metric: 'cosine', sourceModel: 'other' },
          indexing: { deny: ['unindexed'] },
          lexical: {
            enabled: true,
            analyzer: { tokenizer: { name: 'standard' }, filters: [{ name: 'lowercase' }] },
          },
          rerank: { enabled: false },
        },
      },
    },
  },
  { path: fuzzed, command: { insertOne: { document: { _id: 'x', ...document } } } },
  {
    path: fuzzed,
    command: {
      insertOne: { document: { ...document, $vector: vector, $lexical: 'some words' } },
    },
  },
  {
    path: fuzzed,
    command: {
      insertMany: {
        documents: [
          document,
          { a: 1 },
          { _id: 5, $vector: { $binary: 'AAAAAAAAAAAAAAAA' } },
        ],
        options: { ordered: true, returnDocumentResponses: true },
      },
    },
  },
  {
    path: fuzzed,
    command: { updateOne: { filter, update, sort, options: { upsert: true } } },
  },
  { path: fuzzed, command: { updateMany: { filter, update, options: { upsert: true } } } },
  {
    path: fuzzed,
    command: {
      findOneAndUpdate: {
        filter,
        update,
        sort,
        projection,
        options: { returnDocument: 'after', upsert: true },
      },
    },
  },
  {
    path: fuzzed,
    command: {
      findOneAndReplace: {
        filter: { _id: 'x' },
        replacement: document,
        projection,
        options: { upsert: true },
      },
    },
  },
  { path: fuzzed, command: { findOneAndDelete: { filter, sort, projection } } },
  { path: fuzzed, command: { deleteOne: { filter, sort } } },
  { path: fuzzed, command: { deleteMany: { filter } } },
  {
    path: fuzzed,
    command: {
      find: { sort: { $vector: vector }, options: { limit: 5, includeSimilarity: true } },
    },
  },
  {
    path: fuzzed,
    command: {
      find: { filter: { $lexical: { $match: 'some words' } }, sort: { $lexical: 'words' } },
    },
  },
  {
    path: fuzzed,
    command: {
      findAndRerank: {
        sort: { $hybrid: { $vector: vector, $lexical: 'words' } },
        options: {
          limit: 5,
          hybridLimits: { $vector: 5, $lexical: 5 },
          rerankOn: 's',
          rerankQuery: 'q',
        },
      },
    },
  },
  ...[kept, fuzzed].flatMap((path) => [
    {
      path,
      command: { find: { filter, sort, projection, options: { limit: 10, skip: 1 } } },
    },
    {
      path,
      command: {
        find: { filter: { _id: { $in: ['x', 1, null] } }, options: { pageState: 'abc' } },
      },
    },
    {
      path,
      command: {
        findOne: { filter, sort, projection, options: { includeSimilarity: true } },
      },
    },
    { path, command: { countDocuments: { filter } } },
    { path, command: { estimatedDocumentCount: {} } },
  ]),
]

const strange: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1e308,
  () => 5e-324,
  () => 1.5,
  () => Number.MAX_SAFE_INTEGER,
  () => '',
  () => '$x',
  () => '__proto__',
  () => 'a.0.b&.c',
  () => '\ud800\u0000',
  (random) => 'x'.repeat(random.below(20_000)),
  () => [],
  () => ({}),
  () => [[[[]]]],
  () => ({ $date: 1 }),
  () => ({ $date: 'x' }),
  () => ({ $uuid: 5 }),
  () => ({ $objectId: '0123456789abcdef01234567' }),
  () => ({ $binary: 'AAAA' }),
  () => ({ $binary: 'AAAAAA' }),
  () => ({ $binary: 'f4AAAH+AAAB/gAAA' }),
  () => [0, 0, 0],
  () => [1e39, 1, 1],
  () => [1, 2, 3],
  () => [1, 2],
  () => ({ $match: 'words' }),
  () => ({ $vectorize: 'ab', $lexical: 'words', $vector: [1, 2, 3] }),
  () => ({ $eq: { $in: [] } }),
  () => ({ $each: [1], $position: 2 }),
  () => ({ '': 1 }),
  () => ({ constructor: { prototype: 1 } }),
  (random) => Array.from({ length: random.below(1_200) }, (_, n) => n),
  (random) => nest(random.below(600)),
]

const keys = [
  '_id',
  '$vector',
  '$vectorize',
  '$lexical',
  '$hybrid',
  '$binary',
  '$match',
  '$and',
  '$not',
  '$set',
  '$eq',
  '$date',
  '*',
  '',
  '.',
  'a.b',
  'list.0',
  '__proto__',
  'toString',
  'options',
  'filter',
]

function nest(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++)
    value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const odd: Odd = {
  key: (random) => random.pick(keys),
  value: (random) => random.pick(strange)(random),
}

/** Changes one place of a tree: rarely the command itself, mostly something inside it. */
function mutateSomewhere(tree: unknown, random: Random): unknown {
  return changeSomewhere(tree, random.oneIn(12) ? 0 : 2, random, (node) =>
    !isBranch(node) || random.oneIn(4)
      ? odd.value(random)
      : damageBranch(node, random, odd),
  )
}

/**
 * Damages the JSON text of a command, so that it has duplicate keys, long numbers, or missing
 * characters.
 */
function damage(text: string, random: Random): string {
  const at = random.below(text.length)
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1)
    case 1:
      return (
        text.slice(0, at) +
        random.pick('{ } [ ] : , " \\ 0 - e'.split(' ')) +
        text.slice(at)
      )
    case 2:
      return text.replace(/\{("[^"]+":)/, '{$10,$1')
    case 3:
      return text.replace(
        /\d+/,
        random.pick([
          '1e400',
          '1e-400',
          '-0',
          '9'.repeat(100),
          '9'.repeat(101),
          '1e2147483648',
        ]),
      )
    case 4:
      return text.replace(/"[^"]*"/g, (string) =>
        random.oneIn(10) ? '"\\ud800\\u0000"' : string,
      )
    default:
      return text.slice(0, at) + text.slice(random.below(text.length))
  }
}
