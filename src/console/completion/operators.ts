/** The operators of clauses, with a description and the type of their operand. */

export interface Operator {
  readonly name: string
  readonly says: string
  /** Type of the operand. */
  readonly takes: 'any' | 'array' | 'boolean' | 'count' | 'number' | 'text' | 'fields'
}

export const filterOperators: readonly Operator[] = [
  { name: '$eq', says: 'equal to', takes: 'any' },
  { name: '$ne', says: 'not equal to', takes: 'any' },
  { name: '$gt', says: 'greater than', takes: 'any' },
  { name: '$gte', says: 'greater than or equal to', takes: 'any' },
  { name: '$lt', says: 'less than', takes: 'any' },
  { name: '$lte', says: 'less than or equal to', takes: 'any' },
  { name: '$in', says: 'one of these', takes: 'array' },
  { name: '$nin', says: 'none of these', takes: 'array' },
  { name: '$exists', says: 'whether the field exists', takes: 'boolean' },
  { name: '$all', says: 'an array that contains all of these', takes: 'array' },
  { name: '$size', says: 'an array of this length', takes: 'count' },
  { name: '$match', says: 'contains all of these terms', takes: 'text' },
]

/** Operators of columns. `$keys` and `$values` apply to maps. */
export const columnOperators: readonly Operator[] = [
  ...filterOperators.filter(({ name }) => !['$exists', '$size'].includes(name)),
  { name: '$keys', says: 'the keys of a map', takes: 'any' },
  { name: '$values', says: 'the values of a map', takes: 'any' },
]

export const logicalOperators: readonly Operator[] = [
  { name: '$and', says: 'all of these filters match', takes: 'array' },
  { name: '$or', says: 'at least one of these filters matches', takes: 'array' },
  { name: '$not', says: 'this filter does not match', takes: 'fields' },
]

export const updateOperators: readonly Operator[] = [
  { name: '$set', says: 'sets a value', takes: 'any' },
  { name: '$setOnInsert', says: 'sets a value if an upsert inserts', takes: 'any' },
  { name: '$unset', says: 'removes a field', takes: 'any' },
  { name: '$inc', says: 'adds a number', takes: 'number' },
  { name: '$mul', says: 'multiplies by a number', takes: 'number' },
  { name: '$min', says: 'sets a value if it is less', takes: 'any' },
  { name: '$max', says: 'sets a value if it is greater', takes: 'any' },
  { name: '$rename', says: 'renames or moves a field', takes: 'text' },
  { name: '$currentDate', says: 'sets the current time', takes: 'any' },
  { name: '$push', says: 'adds to an array', takes: 'any' },
  { name: '$pop', says: 'removes the last element (1) or the first (-1)', takes: 'number' },
  { name: '$addToSet', says: 'adds to an array unless present', takes: 'any' },
  { name: '$pull', says: 'removes elements that match', takes: 'any' },
  { name: '$pullAll', says: 'removes elements that equal one of these', takes: 'array' },
]

/** The update operators that rows support. */
export const rowUpdateOperators: readonly Operator[] = updateOperators.filter(({ name }) =>
  ['$set', '$unset', '$push', '$pullAll'].includes(name),
)

/** Names of the extended JSON values. */
export const extendedNames = ['$date', '$uuid', '$objectId', '$binary']

const optionNames: readonly Operator[] = [
  { name: 'limit', says: 'maximum number of results', takes: 'count' },
  { name: 'skip', says: 'number of results to skip, with a sort', takes: 'count' },
  { name: 'includeSimilarity', says: 'adds $similarity', takes: 'boolean' },
  { name: 'includeSortVector', says: 'adds the vector of the search', takes: 'boolean' },
  { name: 'lexicalOperator', says: 'match any term, or all terms', takes: 'text' },
  { name: 'minSimilarity', says: 'minimum similarity, from 0 to 1', takes: 'number' },
  { name: 'diversity', says: 'diversity of results, from 0 to 1', takes: 'number' },
  { name: 'pageState', says: 'nextPageState of the previous page', takes: 'text' },
  { name: 'hybridLimits', says: 'candidates of each search', takes: 'any' },
  { name: 'rerankOn', says: 'field to rerank', takes: 'text' },
  { name: 'rerankQuery', says: 'text that documents are compared with', takes: 'text' },
  { name: 'rerank', says: 'reranker of this search', takes: 'any' },
  { name: 'includeScores', says: 'adds scores and ranks', takes: 'boolean' },
  { name: 'upsert', says: 'inserts if nothing matches', takes: 'boolean' },
  { name: 'returnDocument', says: 'before or after the change', takes: 'text' },
  { name: 'ordered', says: 'stops at the first failure', takes: 'boolean' },
  { name: 'returnDocumentResponses', says: 'one response per document', takes: 'boolean' },
]

const optionsByCommand: Readonly<Record<string, readonly string[]>> = {
  find: [
    ...['limit', 'skip', 'includeSimilarity', 'includeSortVector', 'lexicalOperator'],
    ...['minSimilarity', 'diversity', 'pageState'],
  ],
  findOne: [
    ...['includeSimilarity', 'includeSortVector', 'lexicalOperator'],
    ...['minSimilarity', 'diversity'],
  ],
  findAndRerank: [
    ...['limit', 'hybridLimits', 'rerankOn', 'rerankQuery', 'rerank'],
    ...['includeScores', 'includeSortVector'],
  ],
  updateOne: ['upsert', 'lexicalOperator'],
  updateMany: ['upsert', 'pageState'],
  findOneAndUpdate: ['returnDocument', 'upsert', 'lexicalOperator'],
  findOneAndReplace: ['returnDocument', 'upsert', 'lexicalOperator'],
  insertMany: ['ordered', 'returnDocumentResponses'],
}

export function optionsOf(command: string): readonly Operator[] {
  const names = optionsByCommand[command] ?? []
  return optionNames.filter(({ name }) => names.includes(name))
}
