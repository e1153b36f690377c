/**
 * Descriptions and examples of all commands.
 *
 * The examples form one sequence: on a new server, each example succeeds if all earlier ones were
 * sent before. They use their own keyspace, so trying them does not affect other data.
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
  createKeyspace: words('Creates a keyspace. An existing keyspace is not changed.', [
    toServer('Create the keyspace of these examples', { name: 'sample' }),
  ]),
  findKeyspaces: words('Lists all keyspaces.', [toServer('List the keyspaces', {})]),
  dropKeyspace: words(
    'Drops a keyspace and everything in it. Succeeds if the keyspace does not exist.',
    [toServer('Drop a keyspace', { name: 'sample_of_last_year' })],
  ),
  findEmbeddingProviders: words(
    'Lists the embedding providers with their models and parameters.',
    [toServer('Providers with supported models', {})],
  ),
  findRerankingProviders: words('Lists the reranking providers with their models.', [
    toServer('Models that are still supported', {
      options: { filterModelStatus: 'SUPPORTED' },
    }),
  ]),
  createNamespace: words('Deprecated name of createKeyspace.', [
    toServer('The same as createKeyspace', { name: 'sample' }),
  ]),
  findNamespaces: words('Deprecated name of findKeyspaces.', [
    toServer('The same as findKeyspaces', {}),
  ]),
  dropNamespace: words('Deprecated name of dropKeyspace.', [
    toServer('The same as dropKeyspace', { name: 'sample_of_last_year' }),
  ]),
}

const keyspace: WordsByCommand = {
  createCollection: words(
    'Creates a collection. Succeeds if it exists with the same options.',
    [
      toKeyspace('A collection with vector and lexical search', {
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
  deleteCollection: words('Deletes a collection with all its documents.', [
    toKeyspace('Delete a collection', { name: 'pamphlets' }),
  ]),
  createType: words(
    'Creates a user-defined type for columns, with named and typed fields.',
    [
      toKeyspace('A type of two fields', {
        name: 'address',
        definition: { fields: { street: 'text', city: 'text' } },
        options: { ifNotExists: true },
      }),
    ],
  ),
  alterType: words('Renames and adds fields of a type, all or none of them.', [
    toKeyspace('Rename one field and add another', {
      name: 'address',
      rename: { fields: { city: 'town' } },
      add: { fields: { country: 'text' } },
    }),
  ]),
  listTypes: words('Lists the types of a keyspace.', [
    toKeyspace('Types with their fields', { options: { explain: true } }),
  ]),
  dropType: words('Drops a type that no column uses.', [
    toKeyspace('Drop a type if it exists', {
      name: 'phone',
      options: { ifExists: true },
    }),
  ]),
  createTable: words('Creates a table of typed columns, with a primary key.', [
    toKeyspace('A table with partitions and a partition sort', {
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
    toKeyspace('Drop a table if it exists', {
      name: 'visitors',
      options: { ifExists: true },
    }),
  ]),
  dropIndex: words('Drops an index of any table of the keyspace.', [
    toKeyspace('Drop an index if it exists', {
      name: 'visitors_name',
      options: { ifExists: true },
    }),
  ]),
}

const target: WordsByCommand = {
  insertOne: words(
    'Inserts a document or a row. In a table, the given columns overwrite those of ' +
      'an existing row.',
    [
      toCollection('A document with a generated _id', {
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
    ],
  ),
  insertMany: words(
    'Inserts several documents or rows. By default, a failed one does not stop the others.',
    [
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
    ],
  ),
  createIndex: words('Creates an index on a column of a table.', [
    toTable('Index names, ignoring case', {
      name: 'readers_name',
      definition: { column: 'name', options: { caseSensitive: false } },
      options: { ifNotExists: true },
    }),
  ]),
  createVectorIndex: words('Creates a vector index on a column, for vector search.', [
    toTable('Index the vectors of the column taste', {
      name: 'readers_taste',
      definition: { column: 'taste', options: { metric: 'cosine' } },
      options: { ifNotExists: true },
    }),
  ]),
  createTextIndex: words('Creates a text index on a column, for lexical search.', [
    toTable('Index the words of mottos', {
      name: 'readers_motto',
      definition: { column: 'motto', options: { analyzer: 'english' } },
      options: { ifNotExists: true },
    }),
  ]),
  listIndexes: words('Lists the indexes of a table.', [
    toTable('Indexes with their definitions', { options: { explain: true } }),
  ]),
  find: words('Finds documents or rows, page by page.', [
    toCollection('With a filter, a sort and a projection', {
      filter: { year: { $gte: 1960, $lt: 1970 }, tags: { $in: ['desert', 'ocean'] } },
      sort: { year: -1 },
      projection: { title: 1, year: 1 },
      options: { limit: 10, skip: 0 },
    }),
    toCollection('Vector search, nearest first', {
      sort: { $vector: [0.8, 0.2, 0.1] },
      options: { limit: 2, includeSimilarity: true },
    }),
    toCollection('Lexical search, most relevant first', {
      sort: { $lexical: 'planets' },
      projection: { title: 1 },
    }),
    toTable('Rows of a partition', {
      filter: { town: 'Oslo' },
      projection: { name: true, joined: true },
    }),
    toTable('Vector search on rows', {
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
    'Runs a vector search and a lexical search, and reranks the results of both with a model.',
    [
      toCollection('Hybrid search with reranking', {
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
    toCollection('Replace a document, or insert it if none matches', {
      filter: { _id: 'ubik' },
      replacement: { title: 'Ubik', year: 1969, copies: 2 },
      options: { upsert: true, returnDocument: 'after' },
    }),
  ]),
  findOneAndDelete: words('Deletes the first document that matches, and returns it.', [
    toCollection('Delete the oldest book with at most one copy', {
      filter: { copies: { $lte: 1 } },
      sort: { year: 1 },
      projection: { title: 1 },
    }),
  ]),
  updateOne: words(
    'Updates the first document that matches, or the row with the given primary key.',
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
  updateMany: words('Updates the documents that match, one page per call.', [
    toCollection('Add a copy to each', {
      filter: { copies: { $exists: true } },
      update: { $inc: { copies: 1 } },
    }),
  ]),
  countDocuments: words('Counts the documents that match, up to a limit.', [
    toCollection('Count books of the sixties', {
      filter: { year: { $gte: 1960, $lt: 1970 } },
    }),
  ]),
  estimatedDocumentCount: words('Estimates the number of documents, in constant time.', [
    toCollection('Estimate the size of the collection', {}),
  ]),
  deleteOne: words(
    'Deletes the first document that matches, or the row with the given primary key.',
    [
      toCollection('By _id', { filter: { _id: 'ubik' } }),
      toTable('By primary key', { filter: { town: 'Rome', number: 1 } }),
    ],
  ),
  deleteMany: words(
    'Deletes the documents or rows that match. Without a filter, deletes all.',
    [
      toCollection('Delete the books without loans', { filter: { copies: 0 } }),
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

/** Descriptions by level of the command. The sequence of the examples has the same order. */
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
