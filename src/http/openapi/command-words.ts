/**
 * Descriptions and examples of all commands.
 *
 * The examples form one sequence: on a new server each example succeeds after all earlier ones
 * were sent. They use a keyspace of their own, so trying them does not affect other data.
 */
import type { CommandLevel } from '../../commands/dispatch/define.ts'

export interface CommandWords {
  readonly says: string
  readonly examples: readonly CommandExample[]
}

export interface CommandExample {
  readonly says: string
  /** The path to which the example is sent. */
  readonly path: string
  /** The fields of the command. */
  readonly fields: Readonly<Record<string, unknown>>
}

const keyspacePath = '/v1/sample'
const collectionPath = '/v1/sample/books'
const tablePath = '/v1/sample/readers'

const general: WordsByCommand = {
  createKeyspace: words('Creates a keyspace. One that exists stays as it is.', [
    toServer('Make the keyspace of these examples', { name: 'sample' }),
  ]),
  findKeyspaces: words('Names all keyspaces.', [
    toServer('Which keyspaces are there?', {}),
  ]),
  dropKeyspace: words(
    'Drops a keyspace with all that it holds. One that is absent counts as dropped.',
    [toServer('Drop a keyspace', { name: 'sample_of_last_year' })],
  ),
  findEmbeddingProviders: words(
    'Lists the services that turn texts into vectors, with their models and parameters.',
    [toServer('Services with models that can be built on', {})],
  ),
  findRerankingProviders: words(
    'Lists the services that put search results into a better order, with their models.',
    [
      toServer('Models that are still supported', {
        options: { filterModelStatus: 'SUPPORTED' },
      }),
    ],
  ),
  createNamespace: words('The older name of createKeyspace.', [
    toServer('The same as createKeyspace', { name: 'sample' }),
  ]),
  findNamespaces: words('The older name of findKeyspaces.', [
    toServer('The same as findKeyspaces', {}),
  ]),
  dropNamespace: words('The older name of dropKeyspace.', [
    toServer('The same as dropKeyspace', { name: 'sample_of_last_year' }),
  ]),
}

const keyspace: WordsByCommand = {
  createCollection: words(
    'Creates a collection of documents. Asking again for the same one is fine.',
    [
      toKeyspace('Documents that are found by field, by vector and by words', {
        name: 'books',
        options: {
          vector: { dimension: 3, metric: 'cosine' },
          indexing: { deny: ['blurb'] },
          lexical: { enabled: true, analyzer: 'english' },
        },
      }),
    ],
  ),
  findCollections: words('Lists the collections of a keyspace.', [
    toKeyspace('Collections with their options', { options: { explain: true } }),
  ]),
  deleteCollection: words('Deletes a collection with all that it holds.', [
    toKeyspace('Delete a collection', { name: 'pamphlets' }),
  ]),
  createType: words('Creates a type of your own, made of fields, for columns to have.', [
    toKeyspace('A type of two fields', {
      name: 'address',
      definition: { fields: { street: 'text', city: 'text' } },
      options: { ifNotExists: true },
    }),
  ]),
  alterType: words('Renames fields of a type and adds others: all of it, or nothing.', [
    toKeyspace('Rename one field and add another', {
      name: 'address',
      rename: { fields: { city: 'town' } },
      add: { fields: { country: 'text' } },
    }),
  ]),
  listTypes: words('Lists the types of a keyspace.', [
    toKeyspace('Types with their fields', { options: { explain: true } }),
  ]),
  dropType: words('Drops a type that no column is made of.', [
    toKeyspace('Drop a type if it is there', {
      name: 'phone',
      options: { ifExists: true },
    }),
  ]),
  createTable: words('Creates a table of typed columns, with a primary key.', [
    toKeyspace('Rows in partitions, each in an order', {
      name: 'readers',
      definition: {
        columns: {
          town: 'text',
          number: 'int',
          name: 'text',
          motto: 'text',
          joined: 'date',
          genres: { type: 'set', valueType: 'text' },
          home: { type: 'userDefined', udtName: 'address' },
          taste: { type: 'vector', dimension: 3 },
        },
        primaryKey: { partitionBy: ['town'], partitionSort: { number: 1 } },
      },
      options: { ifNotExists: true },
    }),
  ]),
  listTables: words('Lists the tables of a keyspace.', [
    toKeyspace('Tables with their definitions', { options: { explain: true } }),
  ]),
  dropTable: words('Drops a table with all its rows and indexes.', [
    toKeyspace('Drop a table if it is there', {
      name: 'visitors',
      options: { ifExists: true },
    }),
  ]),
  dropIndex: words('Drops an index of any table of the keyspace.', [
    toKeyspace('Drop an index if it is there', {
      name: 'visitors_name',
      options: { ifExists: true },
    }),
  ]),
}

const target: WordsByCommand = {
  insertOne: words('Inserts a document. A row that is there already takes what is given.', [
    toCollection('A document, whose _id is made', {
      document: { title: 'Kindred', year: 1979, author: { name: 'Octavia Butler' } },
    }),
    toTable('A row', {
      document: {
        town: 'Oslo',
        number: 1,
        name: 'Ada',
        motto: 'Reading is travelling without leaving',
        joined: '2024-05-01',
        genres: ['novels'],
        home: { street: 'Storgata', town: 'Oslo', country: 'Norway' },
        taste: [0.9, 0.1, 0.2],
      },
    }),
  ]),
  insertMany: words('Inserts several documents or rows; those that fail stop no others.', [
    toCollection('Documents with vectors and texts to search', {
      documents: [
        {
          _id: 'dune',
          title: 'Dune',
          year: 1965,
          copies: 3,
          tags: ['desert'],
          $vector: [0.9, 0.1, 0.1],
          $lexical: 'spice and politics on a desert planet',
        },
        {
          _id: 'solaris',
          title: 'Solaris',
          year: 1961,
          copies: 1,
          tags: ['ocean'],
          $vector: [0.1, 0.9, 0.2],
          $lexical: 'an ocean that thinks, on a distant planet',
        },
        { _id: 'ubik', title: 'Ubik', year: 1969, copies: 0, tags: [] },
      ],
      options: { ordered: false },
    }),
    toTable('Rows', {
      documents: [
        { town: 'Oslo', number: 2, name: 'Ben', taste: [0.2, 0.8, 0.1] },
        { town: 'Rome', number: 1, name: 'Cleo', motto: 'No book is ever finished' },
      ],
    }),
  ]),
  createIndex: words('Indexes a column of a table by value.', [
    toTable('Find readers by name, in any case', {
      name: 'readers_name',
      definition: { column: 'name', options: { caseSensitive: false } },
      options: { ifNotExists: true },
    }),
  ]),
  createVectorIndex: words('Indexes the vectors of a column, to search by nearness.', [
    toTable('Find readers of a similar taste', {
      name: 'readers_taste',
      definition: { column: 'taste', options: { metric: 'cosine' } },
      options: { ifNotExists: true },
    }),
  ]),
  createTextIndex: words('Indexes the texts of a column, to search by words.', [
    toTable('Find readers by the words of their motto', {
      name: 'readers_motto',
      definition: { column: 'motto', options: { analyzer: 'english' } },
      options: { ifNotExists: true },
    }),
  ]),
  listIndexes: words('Lists the indexes of a table.', [
    toTable('Indexes with their definitions', { options: { explain: true } }),
  ]),
  find: words('Finds documents or rows, a page at a time.', [
    toCollection('By field, in an order, a part of each', {
      filter: { year: { $gte: 1960, $lt: 1970 }, tags: { $in: ['desert', 'ocean'] } },
      sort: { year: -1 },
      projection: { title: 1, year: 1 },
      options: { limit: 10, skip: 0 },
    }),
    toCollection('By vector, the nearest first', {
      sort: { $vector: [0.8, 0.2, 0.1] },
      options: { limit: 2, includeSimilarity: true },
    }),
    toCollection('By words, the most relevant first', {
      sort: { $lexical: 'planets' },
      projection: { title: 1 },
    }),
    toTable('Rows of a partition', {
      filter: { town: 'Oslo' },
      projection: { name: true, joined: true },
    }),
    toTable('Rows by vector', {
      sort: { taste: [0.9, 0.1, 0.1] },
      projection: { name: true },
      options: { limit: 2, includeSimilarity: true },
    }),
  ]),
  findOne: words(
    'Finds the first document or row that matches, in the order of the sort.',
    [
      toCollection('By _id', { filter: { _id: 'dune' } }),
      toTable('By an indexed column', { filter: { name: 'ada' } }),
    ],
  ),
  findAndRerank: words(
    'Searches by vector and by words, and has a model put what both find in order.',
    [
      toCollection('Both searches, reranked', {
        sort: { $hybrid: { $vector: [0.5, 0.5, 0.1], $lexical: 'planet' } },
        projection: { title: 1 },
        options: {
          limit: 2,
          hybridLimits: 10,
          rerankOn: '$lexical',
          rerankQuery: 'planet',
          includeScores: true,
        },
      }),
    ],
  ),
  findOneAndUpdate: words('Updates the first document that matches, and returns it.', [
    toCollection('Lend a copy', {
      filter: { _id: 'dune' },
      update: { $inc: { copies: -1 }, $push: { lent: 'Ada' } },
      projection: { copies: 1, lent: 1 },
      options: { returnDocument: 'after' },
    }),
  ]),
  findOneAndReplace: words('Replaces the first document that matches, and returns it.', [
    toCollection('Replace, or insert where there is none', {
      filter: { _id: 'ubik' },
      replacement: { title: 'Ubik', year: 1969, copies: 2 },
      options: { upsert: true, returnDocument: 'after' },
    }),
  ]),
  findOneAndDelete: words('Deletes the first document that matches, and returns it.', [
    toCollection('Take the oldest out', {
      filter: { copies: { $lte: 1 } },
      sort: { year: 1 },
      projection: { title: 1 },
    }),
  ]),
  updateOne: words(
    'Updates the first document that matches, or the row that has the key.',
    [
      toCollection('Set a field', {
        filter: { title: 'Kindred' },
        update: { $set: { copies: 1 } },
        options: { upsert: false },
      }),
      toTable('Set a column', {
        filter: { town: 'Rome', number: 1 },
        update: { $set: { joined: '2025-01-31' } },
      }),
    ],
  ),
  updateMany: words('Updates the documents that match, a page of them with each call.', [
    toCollection('A copy more of each', {
      filter: { copies: { $exists: true } },
      update: { $inc: { copies: 1 } },
    }),
  ]),
  countDocuments: words('Counts the documents that match, stopping early at a limit.', [
    toCollection('How many from the sixties?', {
      filter: { year: { $gte: 1960, $lt: 1970 } },
    }),
  ]),
  estimatedDocumentCount: words('Counts all documents, roughly and at once.', [
    toCollection('How many are there, about?', {}),
  ]),
  deleteOne: words(
    'Deletes the first document that matches, or the row that has the key.',
    [
      toCollection('By _id', { filter: { _id: 'ubik' } }),
      toTable('By primary key', { filter: { town: 'Rome', number: 1 } }),
    ],
  ),
  deleteMany: words(
    'Deletes the documents or rows that match; without a filter, all of them.',
    [
      toCollection('What nobody lends', { filter: { copies: 0 } }),
      toTable('A partition', { filter: { town: 'Rome' } }),
    ],
  ),
  dropIndex: words('Drops an index of this table.', [
    toTable('Drop an index', { name: 'readers_name', options: { ifExists: true } }),
  ]),
  alterTable: words('Adds or drops columns, or the embedding services of vector columns.', [
    toTable('Add a column', { operation: { add: { columns: { phone: 'text' } } } }),
    toTable('Drop a column', { operation: { drop: { columns: ['phone'] } } }),
  ]),
}

type WordsByCommand = Readonly<Record<string, CommandWords>>

/**
 * Order of the descriptions: commands that create, then commands that use, then commands that drop.
 */
export const wordsOfCommands: Readonly<Record<CommandLevel, WordsByCommand>> = {
  general,
  keyspace,
  target,
}

function words(says: string, examples: readonly CommandExample[]): CommandWords {
  return { says, examples }
}

function toServer(says: string, fields: CommandExample['fields']): CommandExample {
  return { says, path: '/v1', fields }
}

function toKeyspace(says: string, fields: CommandExample['fields']): CommandExample {
  return { says, path: keyspacePath, fields }
}

function toCollection(says: string, fields: CommandExample['fields']): CommandExample {
  return { says, path: collectionPath, fields }
}

function toTable(says: string, fields: CommandExample['fields']): CommandExample {
  return { says, path: tablePath, fields }
}
