/**
 * Descriptions of the fields of commands.
 *
 * Most fields have the same meaning in all commands, and one entry by their path. If a field
 * differs in a command, it has another entry, whose path starts with the command.
 */
export interface FieldWords {
  readonly says: string
  /** Name of a schema in clause-schemas.ts that describes the field in detail. */
  readonly schema?: string
}

export const wordsOfFields: Readonly<Record<string, FieldWords>> = {
  add: { says: 'Fields to add, with their types.', schema: 'FieldTypes' },
  document: { says: 'The document or row to insert.', schema: 'Document' },
  documents: { says: 'The documents or rows to insert.' },
  filter: {
    says: 'Selects documents or rows. An empty filter selects all.',
    schema: 'Filter',
  },
  indexType: { says: 'The type of index that the command creates. Optional.' },
  name: { says: 'Name of the keyspace, collection, table, type or index.' },
  operation: { says: 'The change to make; exactly one.', schema: 'TableOperation' },
  options: { says: 'Options of the command.' },
  projection: { says: 'Fields to return. Default: all.', schema: 'Projection' },
  rename: { says: 'Fields to rename: old names with new names.', schema: 'FieldNames' },
  replacement: { says: 'The new document.', schema: 'Document' },
  sort: { says: 'Order of the results, or a search.', schema: 'Sort' },
  update: { says: 'Changes to make.', schema: 'Update' },

  'options.diversity': {
    says: 'How much the results of a vector search should differ from each other.',
  },
  'options.explain': { says: 'Whether to return definitions, not only names.' },
  'options.filterModelStatus': {
    says: 'Only models with this status; empty: all models. Case does not matter.',
  },
  'options.hybridLimits': {
    says: 'Limit of each search: one number for both, or one for each.',
    schema: 'HybridLimits',
  },
  'options.ifExists': { says: 'Whether to succeed if the name does not exist.' },
  'options.ifNotExists': { says: 'Whether to succeed if the name already exists.' },
  'options.includeScores': { says: 'Whether to return the scores of each document.' },
  'options.includeSimilarity': {
    says: 'Whether to add $similarity to each result of a vector search.',
  },
  'options.includeSortVector': {
    says: 'Whether to return the vector of the search.',
  },
  'options.lexicalOperator': {
    says: 'Whether results of a lexical search need any of the terms, or all of them.',
  },
  'options.limit': { says: 'Maximum number of results, over all pages.' },
  'options.minSimilarity': {
    says: 'Minimum $similarity of the results of a vector search.',
  },
  'options.ordered': {
    says: 'Whether to insert in order and stop at the first failure.',
  },
  'options.pageState': {
    says: 'Start of the next page: the nextPageState of the previous page.',
  },
  'options.replication': {
    says: 'Replication settings; checked, but used only by a cluster.',
    schema: 'Replication',
  },
  'options.rerank': {
    says: 'Reranker to use instead of that of the collection.',
    schema: 'RerankService',
  },
  'options.rerankOn': { says: 'Field whose text is compared with the query.' },
  'options.rerankQuery': { says: 'Text that the reranker compares documents with.' },
  'options.returnDocument': {
    says: 'Whether to return the document before or after the change.',
  },
  'options.returnDocumentResponses': {
    says: 'Whether to return one response per document.',
  },
  'options.skip': { says: 'Number of results to skip at the start of a sort.' },
  'options.upsert': { says: 'Whether to insert a document if none matches.' },

  'createCollection.options': {
    says: 'Options of the collection: ids, vectors, indexing, lexical search, reranking.',
    schema: 'CollectionOptions',
  },
  'createIndex.definition': {
    says: 'The column and options of the index.',
    schema: 'IndexDefinition',
  },
  'createTable.definition': {
    says: 'The columns and the primary key of the table.',
    schema: 'TableDefinition',
  },
  'createTextIndex.definition': {
    says: 'The column and its analyzer.',
    schema: 'TextIndexDefinition',
  },
  'createType.definition': { says: 'The fields of the type.', schema: 'FieldTypes' },
  'createVectorIndex.definition': {
    says: 'The column and its metric.',
    schema: 'VectorIndexDefinition',
  },
  'findAndRerank.sort': { says: 'The search to run.', schema: 'HybridSort' },
}

/** The description of a field, by its path in the command: "options.limit". */
export function wordsFor(command: string, path: string): FieldWords | undefined {
  return wordsOfFields[`${command}.${path}`] ?? wordsOfFields[path]
}
