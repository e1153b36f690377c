/** Parses values of columns in requests: values, vectors, and texts to embed. */
import type { Caller } from '../../caller/caller.ts'
import { BadValue, readValueInSteps } from '../../language/columns/values.ts'
import type { Column, ColumnValue } from '../../language/columns/column.ts'
import { isDecimal, isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import { quoteJson } from '../../language/values/quote-json.ts'
import {
  checkVector,
  decodeBinaryVector,
  findVectorProblem,
} from '../../language/values/vector.ts'
import type { Steps } from '../../runtime/steps.ts'
import type { RowStore } from '../row-store.ts'

/** A text for the embedding service of its column. */
export class TextToEmbed {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Marks a text for a vector column without an embedding service. */
export const noService = Symbol('no embedding service')

/** The new content of a column: a value, a vector, or undefined for none. */
export type Content = ColumnValue | undefined

export type Contents = ReadonlyMap<Column, Content>

/** Contents of columns whose texts are not embedded yet. */
export type GivenContents = ReadonlyMap<Column, Content | TextToEmbed>

export type ReadContent = Content | TextToEmbed | BadValue | typeof noService

export function* readContent(
  store: RowStore,
  column: Column,
  value: Value,
): Steps<ReadContent> {
  const { type } = column
  if (type.type !== 'vector') return yield* readValueInSteps(type, value, store.table.types)
  if (value === null) return undefined
  if (typeof value !== 'string') {
    const vector = readVector(value, type.dimension)
    return vector instanceof BadValue ? vector : comparableVector(store, column, vector)
  }
  if (type.service === undefined) return noService
  return value.trim() === '' ? undefined : new TextToEmbed(value)
}

/** Returns the vector, or a BadValue if the index of its column cannot store the vector. */
function comparableVector(
  store: RowStore,
  column: Column,
  vector: Float32Array,
): Float32Array | BadValue {
  const metric = store.metricOf(column)
  const problem = metric && findVectorProblem(vector, metric)
  return problem === undefined ? vector : new BadValue(`cannot be indexed: ${problem}`)
}

/** Parses an array of numbers or a binary of floats with the column's dimension. */
export function readVector(value: Value, dimension: number): Float32Array | BadValue {
  const numbers = Array.isArray(value) ? readNumbers(value) : readBinary(value)
  if (numbers instanceof BadValue) return numbers
  if (numbers.length !== dimension)
    return new BadValue(
      `has ${numbers.length} numbers, but the dimension of the column is ${dimension}`,
    )
  const position = numbers.findIndex((number) => !Number.isFinite(number))
  return position === -1
    ? numbers
    : new BadValue(
        `has a number at position ${position} that does not fit into a 32-bit float`,
      )
}

function readNumbers(values: readonly Value[]): Float32Array | BadValue {
  const numbers = new Float32Array(values.length)
  for (const [position, value] of values.entries())
    if (typeof value === 'number') numbers[position] = value
    else if (isDecimal(value)) numbers[position] = Number(value.decimal)
    else
      return new BadValue(
        `has the element ${quoteJson(value)} at position ${position}, which is not a number`,
      )
  return numbers
}

function readBinary(value: Value): Float32Array | BadValue {
  const bytes = isObject(value) && value.size === 1 ? value.get('$binary') : undefined
  if (typeof bytes !== 'string')
    return new BadValue(
      `is of type ${jsonTypeOf(value)}, but a vector must be an array of numbers, ` +
        '{"$binary": …}, or a text if the column has an embedding service',
    )
  const numbers = decodeBinaryVector(bytes)
  return 'problem' in numbers ? new BadValue(`${numbers.problem} in $binary`) : numbers
}

/** Rejects vectors from a provider that the index of their column cannot store. */
export function checkVectors(store: RowStore, contents: Contents): Contents {
  for (const [column, content] of contents) {
    const { name, type } = column
    if (type.type !== 'vector' || !(content instanceof Float32Array)) continue
    const metric = store.metricOf(column)
    const { dimension } = type
    if (metric !== undefined)
      checkVector(content, { dimension, metric, target: store.name, field: name })
  }
  return contents
}

/** Embeds all texts, with one call per column. */
export async function embedTexts(
  store: RowStore,
  rows: readonly GivenContents[],
  caller: Caller,
): Promise<readonly Contents[]> {
  const texts = new Map<Column, string[]>()
  for (const row of rows)
    for (const [column, content] of row)
      if (content instanceof TextToEmbed)
        texts.set(column, [...(texts.get(column) ?? []), content.text])
  // Rows without texts need no embedding.
  if (texts.size === 0) return rows as readonly Contents[]
  const vectors = new Map(
    await Promise.all(
      Array.from(texts, async ([column, ofColumn]) => {
        const made = await store.embedderOf(column)!.embed(ofColumn, 'index', caller)
        return [column, made.values()] as const
      }),
    ),
  )
  return rows.map(
    (row) =>
      new Map(
        Array.from(row, ([column, content]) => [
          column,
          content instanceof TextToEmbed ? vectors.get(column)!.next().value! : content,
        ]),
      ),
  )
}
