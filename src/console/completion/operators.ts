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
  { name: '$exists', says: 'is there, or is not', takes: 'boolean' },
  { name: '$all', says: 'an array with all of these', takes: 'array' },
  { name: '$size', says: 'an array of this length', takes: 'count' },
  { name: '$match', says: 'has all of these terms', takes: 'text' },
]

/** Operators of columns. `$keys` and `$values` apply to maps. */
export const columnOperators: readonly Operator[] = [
  ...filterOperators.filter(({ name }) => !['$exists', '$size'].includes(name)),
  { name: '$keys', says: 'the keys of a map', takes: 'any' },
  { name: '$values', says: 'the values of a map', takes: 'any' },
]

export const logicalOperators: readonly Operator[] = [
  { name: '$and', says: 'all of these filters', takes: 'array' },
  { name: '$or', says: 'one of these filters', takes: 'array' },
  { name: '$not', says: 'the opposite of this filter', takes: 'fields' },
]

export const updateOperators: readonly Operator[] = [
  { name: '$set', says: 'puts a value there', takes: 'any' },
  { name: '$setOnInsert', says: 'puts a value there when it inserts', takes: 'any' },
  { name: '$unset', says: 'removes a field', takes: 'any' },
  { name: '$inc', says: 'adds a number', takes: 'number' },
  { name: '$mul', says: 'multiplies by a number', takes: 'number' },
  { name: '$min', says: 'puts a value there if it is less', takes: 'any' },
  { name: '$max', says: 'puts a value there if it is greater', takes: 'any' },
  { name: '$rename', says: 'moves a field', takes: 'text' },
  { name: '$currentDate', says: 'puts the time there', takes: 'any' },
  { name: '$push', says: 'adds to an array', takes: 'any' },
  { name: '$pop', says: 'removes the last element (1) or the first (-1)', takes: 'number' },
  { name: '$addToSet', says: 'adds to an array what it lacks', takes: 'any' },
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
  { name: 'limit', says: 'how many at most', takes: 'count' },
  { name: 'skip', says: 'how many to leave out, with a sort', takes: 'count' },
  { name: 'includeSimilarity', says: 'adds $similarity', takes: 'boolean' },
  { name: 'includeSortVector', says: 'adds the vector searched for', takes: 'boolean' },
  { name: 'pageState', says: 'where the page before ended', takes: 'text' },
  { name: 'hybridLimits', says: 'how many each search finds', takes: 'any' },
  { name: 'rerankOn', says: 'what is reranked', takes: 'text' },
  { name: 'rerankQuery', says: 'what it is compared with', takes: 'text' },
  { name: 'rerank', says: 'another reranker', takes: 'any' },
  { name: 'includeScores', says: 'adds scores and ranks', takes: 'boolean' },
  { name: 'upsert', says: 'inserts where nothing matches', takes: 'boolean' },
  { name: 'returnDocument', says: 'before or after', takes: 'text' },
  { name: 'ordered', says: 'stops at the first failure', takes: 'boolean' },
  { name: 'returnDocumentResponses', says: 'what became of each', takes: 'boolean' },
]

const optionsByCommand: Readonly<Record<string, readonly string[]>> = {
  find: ['limit', 'skip', 'includeSimilarity', 'includeSortVector', 'pageState'],
  findOne: ['includeSimilarity', 'includeSortVector'],
  findAndRerank: [
    ...['limit', 'hybridLimits', 'rerankOn', 'rerankQuery', 'rerank'],
    ...['includeScores', 'includeSortVector'],
  ],
  updateOne: ['upsert'],
  updateMany: ['upsert', 'pageState'],
  findOneAndUpdate: ['returnDocument', 'upsert'],
  findOneAndReplace: ['returnDocument', 'upsert'],
  insertMany: ['ordered', 'returnDocumentResponses'],
}

export function optionsOf(command: string): readonly Operator[] {
  const names = optionsByCommand[command] ?? []
  return optionNames.filter(({ name }) => names.includes(name))
}
