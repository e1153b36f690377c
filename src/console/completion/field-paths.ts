/** The fields that the console knows: fields of a sample of documents, or columns of a table. */
import type { Place } from '../api/place.ts'
import { tallyFields, typeOf } from '../json/tally-fields.ts'
import { Numeral, type JsonObject, type Value } from '../json/value.ts'

export interface Field {
  /** Path as written in filters and sorts. */
  readonly path: string
  /** Names of the fields from the root of the document to this field. */
  readonly names: readonly string[]
  /** Types of the values in the sample, most frequent first; of a column, its only type. */
  readonly types: readonly string[]
  /** Share of the sampled documents that have the field; 1 for a column. */
  readonly share: number
  /** Frequent short strings and numbers as JSON, most frequent first. */
  readonly values: readonly string[]
}

/** Fields that a clause can name. */
export interface FieldList {
  readonly kind: 'collection' | 'table'
  readonly fields: readonly Field[]
  readonly hasVector: boolean
  /** Whether the collection has an embedding service. */
  readonly hasService: boolean
  readonly hasLexical: boolean
}

/** Maximum number of listed fields: a document may have thousands. */
const fieldsMax = 2000
const valuesMax = 30
const valueLengthMax = 60

class Tally {
  readonly names: readonly string[]
  readonly types = new Map<string, number>()
  readonly values = new Map<string, number>()
  count = 0

  constructor(names: readonly string[]) {
    this.names = names
  }

  add(value: Value): void {
    this.count++
    increase(this.types, typeOf(value))
    const text = shortText(value)
    if (text !== undefined && this.values.size < 200) increase(this.values, text)
  }
}

/** The fields of documents, including nested fields, in alphabetical order. */
export function fieldsOf(documents: readonly JsonObject[]): readonly Field[] {
  const tallies = tallyFields(documents, fieldsMax, (names) => new Tally(names))
  return [...tallies]
    .map(([path, { names, types, values, count }]) => ({
      path,
      names,
      types: byCount(types),
      share: documents.length === 0 ? 0 : count / documents.length,
      values: byCount(values).slice(0, valuesMax),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * Field list for the editors of a collection or table. The sample is a page of its
 * documents or rows.
 */
export function fieldListOf(place: Place, sample: readonly JsonObject[]): FieldList {
  const seen = fieldsOf(sample)
  if (place.kind === 'collection') {
    const { vector, lexical } = place.options
    return {
      kind: 'collection',
      fields: withId(seen.filter(({ path }) => !path.startsWith('$'))),
      hasVector: vector !== undefined,
      hasService: vector?.service !== undefined,
      hasLexical: lexical?.enabled === true,
    }
  }
  const columns = [...place.table.columns].map(([name, { type }]): Field => {
    const { values = [], share = 1 } =
      seen.find(({ names }) => names[0] === name && names.length === 1) ?? {}
    return { path: name, names: [name], types: [type], share, values }
  })
  return {
    kind: 'table',
    fields: columns,
    hasVector: false,
    hasService: false,
    hasLexical: false,
  }
}

/** Adds `_id`, because every document has it even if the sample is empty. */
function withId(fields: readonly Field[]): readonly Field[] {
  if (fields.some(({ path }) => path === '_id')) return fields
  return [{ path: '_id', names: ['_id'], types: [], share: 1, values: [] }, ...fields]
}

function shortText(value: Value): string | undefined {
  if (value instanceof Numeral) return value.text
  if (typeof value !== 'string' || value.length > valueLengthMax) return undefined
  return JSON.stringify(value)
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function byCount(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([key]) => key)
}
