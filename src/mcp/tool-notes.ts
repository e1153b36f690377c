/**
 * Notes that follow the descriptions of tools: the shape of the result, and the next step. A tool
 * has no note if the description of its command suffices.
 */
export const toolNotes: Readonly<Record<string, string>> = {
  createKeyspace: 'A keyspace contains collections and tables.',
  findKeyspaces: 'Start here: most other tools require the name of a keyspace.',
  findEmbeddingProviders:
    'Call it to choose a provider and modelName before you create a collection that ' +
    'embeds texts.',
  createCollection:
    'To search by meaning, set options.vector with a dimension, or with a service that ' +
    'embeds texts. To search by words, leave out options.lexical: lexical search ' +
    'is enabled by default. Options cannot be changed later.',
  findCollections: 'To list tables, call listTables.',
  createTable:
    'Column types include text, int, bigint, double, boolean, uuid, timestamp, list, set, map ' +
    'and vector. Create indexes for columns that are filtered or searched by.',
  listTypes: 'Columns of tables can have these types.',
  listTables: 'To list collections, call findCollections.',
  deleteCollection: 'This cannot be undone.',
  dropKeyspace: 'This cannot be undone.',
  dropTable: 'This cannot be undone.',
  listIndexes: 'Filters on indexed columns are fast.',
  find:
    'Returns documents, and nextPageState if there are more. Send it as ' +
    'options.pageState with the same filter and sort. Set options.limit, and a ' +
    'projection if documents are large.',
  findOne: 'Returns document, or null if none matches.',
  findAndRerank:
    'The best search for a question in natural language. The collection must have ' +
    'vectors and a reranker. sort is {"$hybrid": "the question"}.',
  findOneAndDelete: 'This cannot be undone.',
  findOneAndReplace: 'Fields that the replacement does not have are removed.',
  findOneAndUpdate:
    'Returns the document before the change, unless options.returnDocument is "after".',
  insertOne: 'The status has the _id or primary key in insertedIds.',
  insertMany:
    'The status lists the inserted documents or rows in insertedIds, even if others ' +
    'failed. For more documents than the maximum of a call, make several calls.',
  updateOne: 'The status has matchedCount and modifiedCount.',
  updateMany:
    'The status has matchedCount and modifiedCount. If there is more to do, it also ' +
    'has moreData and nextPageState: call again with nextPageState as ' +
    'options.pageState.',
  countDocuments:
    'The status has count, and moreData if the limit of the count was reached. For a ' +
    'whole collection, estimatedDocumentCount is faster.',
  deleteOne:
    'The status has deletedCount, which is always -1 for a table. This cannot be undone.',
  deleteMany:
    'The status has deletedCount, and moreData if you must call it again. A ' +
    'deletedCount of -1 means that the records were not counted: all documents of a ' +
    'collection, or rows of a table. This cannot be undone; call countDocuments first to ' +
    'see how many match.',
}
