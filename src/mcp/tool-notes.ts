/**
 * Additional descriptions of tools: the shape of the result, and the next step. Tools whose
 * command says enough have no note.
 */
export const toolNotes: Readonly<Record<string, string>> = {
  createKeyspace: 'A keyspace holds collections and tables.',
  findKeyspaces: 'Start here: most other tools need the name of one.',
  findEmbeddingProviders:
    'Look here for a provider and modelName before creating a collection that embeds texts.',
  createCollection:
    'To search by meaning, give options.vector a dimension, or a service that embeds texts; ' +
    'to search by words, leave options.lexical as it is. Neither can be changed later.',
  findCollections: 'Tables are listed by listTables.',
  createTable:
    'Column types include text, int, bigint, double, boolean, uuid, timestamp, list, set, map ' +
    'and vector. Create indexes for columns that are filtered or searched by.',
  listTypes: 'Columns of tables may be of these types.',
  listTables: 'Collections are listed by findCollections.',
  deleteCollection: 'It cannot be undone.',
  dropKeyspace: 'It cannot be undone.',
  dropTable: 'It cannot be undone.',
  listIndexes: 'A table is searched best by columns that have one.',
  find:
    'Returns documents, and nextPageState where there are more: send it as options.pageState ' +
    'with the same filter and sort. Set options.limit, and a projection where documents are ' +
    'large.',
  findOne: 'Returns document, or null where none matches.',
  findAndRerank:
    'The best search for a question in plain words, in a collection that has vectors, lexical ' +
    'search and a reranker: sort is {"$hybrid": "the question"}.',
  findOneAndDelete: 'It cannot be undone.',
  findOneAndReplace: 'What the replacement lacks is gone afterwards.',
  findOneAndUpdate:
    'The document is returned as it was, unless options.returnDocument is after.',
  insertOne: 'The status names the _id, or primary key, in insertedIds.',
  insertMany:
    'The status names what was inserted in insertedIds, also where others failed. For more ' +
    'documents than one call takes, call it again.',
  updateOne: 'The status has matchedCount and modifiedCount.',
  updateMany:
    'The status has matchedCount, modifiedCount and, where there is more to do, moreData and ' +
    'nextPageState: call it again with that as options.pageState.',
  countDocuments:
    'The status has count, and moreData where there are more than are counted. For a whole ' +
    'collection estimatedDocumentCount is faster.',
  deleteOne:
    'The status has deletedCount, which is -1 for a table, deleted or not. It cannot be undone.',
  deleteMany:
    'The status has deletedCount, and moreData where it has to be called again; -1 says that ' +
    'nobody counted: a collection was emptied, or rows of a table were deleted. It cannot be ' +
    'undone; countDocuments says beforehand what matches.',
}
