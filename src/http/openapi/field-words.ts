/**
 * Descriptions of the fields of commands.
 *
 * Most fields have the same meaning in all commands and a single entry, by path. Where a
 * command differs, the path of the entry starts with the command.
 */
export interface FieldWords {
  readonly says: string
  /** Name of a schema in components.ts that describes the field in detail. */
  readonly schema?: string
}

export const wordsOfFields: Readonly<Record<string, FieldWords>> = {
  add: { says: 'Fields to add, with their types.', schema: 'FieldTypes' },
  document: { says: 'The document or row to insert.', schema: 'Document' },
  documents: { says: 'The documents or rows to insert.' },
  filter: { says: 'Which documents or rows; empty: all.', schema: 'Filter' },
  indexType: { says: 'The kind of index, if it is said: the one that the command makes.' },
  name: { says: 'Its name.' },
  operation: { says: 'The one change to make.', schema: 'TableOperation' },
  options: { says: 'How to do it.' },
  projection: { says: 'What to show of each; left out: all.', schema: 'Projection' },
  rename: { says: 'Fields to rename: old names with new ones.', schema: 'FieldNames' },
  replacement: { says: 'The document to put in its place.', schema: 'Document' },
  sort: { says: 'In which order, or what to search for.', schema: 'Sort' },
  update: { says: 'What to change.', schema: 'Update' },

  'options.explain': { says: 'Whether to show definitions beside the names.' },
  'options.filterModelStatus': {
    says: 'Only models of this status; empty: all models. Any case will do.',
  },
  'options.hybridLimits': {
    says: 'How many each search may find: one number, or one for each.',
    schema: 'HybridLimits',
  },
  'options.ifExists': { says: 'Whether it is fine if there is no such thing.' },
  'options.ifNotExists': { says: 'Whether it is fine if the name is taken already.' },
  'options.includeScores': { says: 'Whether to tell the scores of each document.' },
  'options.includeSimilarity': {
    says: 'Whether to add $similarity to each result of a vector search.',
  },
  'options.includeSortVector': {
    says: 'Whether to tell the vector that was searched for.',
  },
  'options.limit': { says: 'How many to return, over all pages.' },
  'options.ordered': {
    says: 'Whether they are inserted one after the other, until one fails.',
  },
  'options.pageState': { says: 'Where to go on: the nextPageState of the page before.' },
  'options.replication': {
    says: 'How many copies to keep; checked, and without effect here.',
    schema: 'Replication',
  },
  'options.rerank': {
    says: "The reranker to use instead of the collection's.",
    schema: 'RerankService',
  },
  'options.rerankOn': { says: 'The field whose text is compared with the query.' },
  'options.rerankQuery': { says: 'What the reranker compares with.' },
  'options.returnDocument': {
    says: 'Whether to return the document as it was, or as it is now.',
  },
  'options.returnDocumentResponses': {
    says: 'Whether to answer for each document by itself.',
  },
  'options.skip': { says: 'How many to leave out at the start of a sort.' },
  'options.upsert': { says: 'Whether to insert a document where none matches.' },

  'createCollection.options': {
    says: 'How its documents get ids, and by what they can be found.',
    schema: 'CollectionOptions',
  },
  'createIndex.definition': {
    says: 'The column, and how its values are compared.',
    schema: 'IndexDefinition',
  },
  'createTable.definition': {
    says: 'Its columns and its primary key.',
    schema: 'TableDefinition',
  },
  'createTextIndex.definition': {
    says: 'The column, and how its texts become terms.',
    schema: 'TextIndexDefinition',
  },
  'createType.definition': { says: 'Its fields.', schema: 'FieldTypes' },
  'createVectorIndex.definition': {
    says: 'The column, and how its vectors are compared.',
    schema: 'VectorIndexDefinition',
  },
  'findAndRerank.sort': { says: 'What to search for.', schema: 'HybridSort' },
}

/** The description of a field, by its path in the command: "options.limit". */
export function wordsFor(command: string, path: string): FieldWords | undefined {
  return wordsOfFields[`${command}.${path}`] ?? wordsOfFields[path]
}
