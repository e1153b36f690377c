/** Parses the input of a Search page. */
import { command } from '../api/command.ts'
import { keyColumns, type Place } from '../api/place.ts'
import { readClause } from '../data/read-clause.ts'
import { parseJson } from '../json/parse-json.ts'
import { isObject, Numeral, type Value } from '../json/value.ts'
import type { SearchState } from './search-state.ts'
import type { SearchInput, SearchMode } from './search-ways.ts'

/** Parses the input. Throws an Error with the name of the invalid part. */
export async function readInput(
  place: Place,
  vectorWay: SearchMode,
  { text, vector, filter, limit }: SearchState,
  signal: AbortSignal,
): Promise<SearchInput> {
  return {
    text,
    limit,
    filter: readClause('filter', filter),
    vector:
      vector.trim() === '' ? undefined : await readVector(place, vectorWay, vector, signal),
  }
}

async function readVector(
  place: Place,
  { field }: SearchMode,
  text: string,
  signal: AbortSignal,
): Promise<Value> {
  const value = parseOrText(text.trim())
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every((element) => element instanceof Numeral))
      return value
    throw new Error('A vector must be an array of numbers: [0.1, 0.2, …]')
  }
  if (isObject(value) && value.has('$binary')) return value
  return vectorOf(place, field, value, signal)
}

/** Parses JSON. Any other text counts as an id that was typed without quotes. */
function parseOrText(text: string): Value {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** The vector of a document or row. */
async function vectorOf(
  place: Place,
  field: string,
  id: Value,
  signal: AbortSignal,
): Promise<Value> {
  const [key, ...others] = place.kind === 'table' ? keyColumns(place) : ['_id']
  if (others.length > 0)
    throw new Error(
      'Rows of this table have a primary key of several columns. Enter a vector: [0.1, 0.2, …]',
    )
  const { documents } = await command(
    place,
    'findOne',
    { filter: { [key!]: id }, projection: { [field]: 1 } },
    { signal },
  )
  const vector = documents[0]?.get(field)
  if (vector === undefined || vector === null)
    throw new Error(
      documents.length === 0
        ? 'This is neither the id of a document nor a vector such as [0.1, 0.2, …]'
        : 'The document with this id has no vector.',
    )
  return vector
}
