/**
 * Commands that the console shows as code, run in order on an empty server, and their expected
 * effects.
 */
import type { CodeRequest } from '../../src/console/code/code-request.ts'

export interface CodeCase {
  readonly request: Omit<CodeRequest, 'url'>
  /** Patterns that must occur in the output of the code. */
  readonly prints: readonly RegExp[]
}

const odd =
  'It\'s "a" \\ `b` $HOME ${x} !! \n\t\r\u2028 é 星 \u{1f30c} </script> %s \\u0041'

function onFilms(command: string, body: unknown, ...prints: RegExp[]): CodeCase {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    request: { ...place, target: 'films', kind: 'collection', command, body: text },
    prints,
  }
}

function onSeats(command: string, body: unknown, ...prints: RegExp[]): CodeCase {
  return {
    request: {
      ...place,
      target: 'seats',
      kind: 'table',
      command,
      body: JSON.stringify(body),
    },
    prints,
  }
}

const place = { keyspace: 'default_keyspace' }

/** Commands whose path names a keyspace, and commands whose path names none. */
const made: readonly CodeCase[] = [
  {
    request: {
      ...place,
      target: undefined,
      kind: 'collection',
      command: 'createCollection',
      body: JSON.stringify({
        name: 'films',
        options: {
          vector: { dimension: 2, metric: 'cosine' },
          rerank: {
            enabled: true,
            service: { provider: 'local', modelName: 'all-MiniLM-L6-v2-late-interaction' },
          },
        },
      }),
    },
    prints: [/ok["']?: ?1/],
  },
  {
    request: {
      ...place,
      target: undefined,
      kind: 'table',
      command: 'createTable',
      body: JSON.stringify({
        name: 'seats',
        definition: {
          columns: { id: 'text', row: 'int', price: 'decimal' },
          primaryKey: 'id',
        },
      }),
    },
    prints: [/ok["']?: ?1/],
  },
  {
    request: {
      keyspace: undefined,
      target: undefined,
      kind: 'collection',
      command: 'findKeyspaces',
      body: '{}',
    },
    prints: [/default_keyspace/],
  },
]

/** The cases in order. `left` describes the data that they leave behind. */
export const cases: readonly CodeCase[] = [
  ...made,
  onFilms(
    'insertMany',
    {
      documents: [
        { _id: 'alien', year: 1979, tags: ['space'], $vector: [1, 0], $lexical: 'monster' },
        { _id: 'moon', year: 2009, tags: ['space', 'alone'], $vector: [0.5, 0.5] },
        { _id: 'up', year: 2009, tags: [], $vector: [0, 1], by: { name: 'Pete' } },
      ],
      options: { ordered: true },
    },
    /alien/,
    /moon/,
  ),
  onFilms(
    'insertOne',
    { document: { _id: 'odd', [odd]: odd, made: { $date: 1700000000000 }, none: null } },
    /odd/,
  ),
  onFilms(
    'insertOne',
    `{"document": {"_id": "big", "n": 123456789012345678901234567890.125, "i": 12345678901234567890,
      "10": 1, "2": {"__proto__": {"x": [[]]}, "e": 1e300}}}`,
    /big/,
  ),
  onFilms(
    'insertOne',
    { document: { _id: 'nested', a: { b: [{ c: {} }, [], -0.5] } } },
    /nested/,
  ),
  onFilms(
    'find',
    { filter: { year: { $gte: 1979 } }, sort: { year: -1 } },
    /moon[^]*alien/,
  ),
  onFilms(
    'find',
    {
      filter: { 'by.name': 'Pete' },
      projection: { title: 0, tags: { $slice: 1 } },
      options: { limit: 2 },
    },
    /Pete/,
  ),
  onFilms(
    'find',
    {
      sort: { $vector: [0.1, 0.9] },
      projection: { year: true },
      options: { limit: 1, includeSimilarity: true },
    },
    /similarity/,
  ),
  onFilms(
    'find',
    { sort: { $vector: [1, 0] }, options: { limit: 1, includeSortVector: true } },
    /sortVector/,
  ),
  onFilms('find', { sort: { $lexical: 'monster' } }, /alien/),
  onFilms('findOne', { filter: { _id: 'moon' }, projection: { year: 1 } }, /2009/),
  onFilms('findOne', { filter: { [odd.replaceAll(/[&.]/g, '&$&')]: odd } }, /odd/),
  onFilms('countDocuments', { filter: { year: 2009 } }, /2/),
  onFilms('estimatedDocumentCount', {}, /\d/),
  onFilms('updateOne', { filter: { _id: 'moon' }, update: { $set: { seen: true } } }, /1/),
  onFilms(
    'updateOne',
    {
      filter: { _id: 'new' },
      update: { $setOnInsert: { by: odd } },
      options: { upsert: true },
    },
    /./,
  ),
  onFilms('updateMany', { filter: { year: 2009 }, update: { $inc: { year: 1 } } }, /2/),
  onFilms(
    'findOneAndUpdate',
    {
      filter: { _id: 'alien' },
      update: { $push: { tags: odd } },
      options: { returnDocument: 'after' },
      projection: { tags: 1 },
    },
    /space/,
  ),
  onFilms(
    'findOneAndReplace',
    {
      filter: { _id: 'up' },
      replacement: { replaced: true },
      options: { returnDocument: 'after' },
    },
    /replaced/,
  ),
  onFilms('findOneAndDelete', { filter: { _id: 'nested' } }, /nested/),
  onFilms('deleteOne', { filter: { year: { $gt: 0 } }, sort: { year: 1 } }, /1/),
  onFilms('deleteMany', { filter: { replaced: true } }, /1/),
  onSeats('insertMany', { documents: [{ id: 'a', row: 1, price: 9.5 }, { id: odd }] }, /a/),
  onSeats('find', { filter: { id: 'a' }, projection: { price: 1 } }, /price/),
  onSeats('updateOne', { filter: { id: 'a' }, update: { $set: { row: 2 } } }),
  onSeats('findOne', { filter: { id: odd } }, /It/),
  onSeats(
    'createIndex',
    { name: 'seat_rows', definition: { column: 'row' } },
    /ok["']?: ?1/,
  ),
  onSeats('deleteOne', { filter: { id: odd } }),
]

/**
 * A search that needs a reranker, which is slow to start. It can run after the third film is
 * inserted.
 */
export const rerankCase: CodeCase = onFilms(
  'findAndRerank',
  {
    filter: { year: { $gt: 1900 } },
    sort: { $hybrid: { $vector: [1, 0], $lexical: 'monster' } },
    options: {
      limit: 3,
      rerankOn: '$lexical',
      rerankQuery: 'monster',
      includeScores: true,
    },
  },
  /alien/,
  /rerank/,
)

/** Expected state after all cases: command texts for `/films` or `/seats`, and their replies. */
export const left: readonly (readonly [string, unknown, string])[] = [
  [
    '/films',
    { find: { sort: { _id: 1 } } },
    `[{"_id":"big","n":123456789012345678901234567890.125,"i":12345678901234567890,"10":1,"2":{"__proto__":{"x":[[]]},"e":1e300}},{"_id":"moon","year":2010,"tags":["space","alone"],"seen":true},{"_id":"new","by":${JSON.stringify(odd)}},{"_id":"odd",${JSON.stringify(odd)}:${JSON.stringify(odd)},"made":{"$date":1700000000000},"none":null}]`,
  ],
  ['/seats', { find: {} }, `[{"id":"a","price":9.5,"row":2}]`],
]
