/**
 * Stored form of documents: one JSON text, in which $vector, $vectorize and $lexical are fields
 * beside the others. The engine contract separates them.
 */
import type { Caller } from '../../../caller/caller.ts'
import { JsonProblem, parseStoredInSteps } from '../../../json/parse.ts'
import { printJson } from '../../../json/print.ts'
import { storedFields, withoutFields } from '../../../json/stored-fields.ts'
import { isNumeric, isObject, type JsonObject, type Value } from '../../../json/value.ts'
import { decodeBinaryVector } from '../../../language/values/vector.ts'
import { atOnce, inTurns, type Steps } from '../../../runtime/steps.ts'
import { EngineError } from '../../errors.ts'
import { bytesOfVector } from '../cql/cql-values.ts'
import type { SearchFields, StoredRecord, Vector } from '../../contract.ts'

const searchFieldNames: ReadonlySet<string> = new Set(['$vector', '$vectorize', '$lexical'])
const quotedNames = Array.from(searchFieldNames, (name) => `"${name}"`)

/**
 * Adds search fields to the text of a document. `text` has no search fields, and contains at least
 * an _id.
 */
export function joinText(text: string, search: SearchFields): string {
  const { vector, vectorize, lexical } = search
  const fields: string[] = []
  if (vector !== undefined)
    fields.push(`"$vector":${vector === null ? 'null' : vectorText(vector)}`)
  if (vectorize !== undefined) fields.push(`"$vectorize":${JSON.stringify(vectorize)}`)
  if (lexical !== undefined) fields.push(`"$lexical":${JSON.stringify(lexical)}`)
  return fields.length === 0 ? text : `${text.slice(0, -1)},${fields.join(',')}}`
}

function vectorText({ numbers, form }: Vector): string {
  if (form === 'array') return `[${numbers.join(',')}]`
  return `{"$binary":"${bytesOfVector(numbers).toString('base64')}"}`
}

/**
 * Splits a stored text into its parts, and parses as little of it as possible. `known` contains the
 * parts that are already parsed.
 */
export function splitText(
  stored: string,
  version: string,
  withSearchFields: boolean,
  known: {
    readonly id?: Value | undefined
    readonly document?: JsonObject | undefined
  } = {},
): StoredRecord {
  const id = known.id ?? known.document?.get('_id') ?? idIn(stored)
  if (!mayHaveSearchFields(stored))
    return withSearchFields
      ? { id, text: stored, version, search: {} }
      : { id, text: stored, version }
  const text = withoutFields(stored, searchFieldNames) ?? printedWithout(stored)
  if (!withSearchFields) return { id, text, version }
  const search = searchFieldsOf(known.document ?? readDocument(stored))
  return { id, text, version, search }
}

/**
 * Prints a stored text without its search fields. Slow, and only needed for texts that other
 * software wrote with whitespace between tokens.
 */
function printedWithout(stored: string): string {
  const document = readDocument(stored)
  for (const name of searchFieldNames) document.delete(name)
  return printJson(document)
}

/** Parses a document with its search fields, as filters need it. */
export function readDocument(stored: string): JsonObject {
  return atOnce(readInSteps(stored))
}

/** Like readDocument, with pauses for other requests before and during the parsing. */
export async function readInTurns(stored: string, caller: Caller): Promise<JsonObject> {
  const pause = caller.pause()
  if (pause !== undefined) await pause
  return inTurns(readInSteps(stored), caller)
}

function* readInSteps(stored: string): Steps<JsonObject> {
  let value: Value
  try {
    value = yield* parseStoredInSteps(stored)
  } catch (error) {
    throw asUnparseable(error)
  }
  if (!isObject(value)) throw unparseable()
  return value
}

export function idIn(stored: string): Value {
  const id = firstId(stored) ?? readDocument(stored).get('_id')
  if (id === undefined) throw unparseable()
  return id
}

function firstId(stored: string): Value | undefined {
  try {
    return storedFields(stored, idName).get('_id')
  } catch (error) {
    throw asUnparseable(error)
  }
}

/** The error for a text that cannot be parsed: other software may have written invalid JSON. */
function asUnparseable(error: unknown): unknown {
  return error instanceof JsonProblem ? unparseable() : error
}

const idName: ReadonlySet<string> = new Set(['_id'])

function mayHaveSearchFields(stored: string): boolean {
  return quotedNames.some((name) => stored.includes(name))
}

function searchFieldsOf(document: JsonObject): SearchFields {
  const vector = document.get('$vector')
  const vectorize = document.get('$vectorize')
  const lexical = document.get('$lexical')
  return {
    ...(vector !== undefined && { vector: readVector(vector) }),
    ...(vectorize !== undefined && { vectorize: readText(vectorize) }),
    ...(lexical !== undefined && { lexical: readText(lexical) }),
  }
}

function readText(value: Value): string | null {
  return typeof value === 'string' ? value : null
}

export function readVector(value: Value): Vector | null {
  if (value === null) return null
  if (Array.isArray(value))
    return { numbers: Float64Array.from(value, numberIn), form: 'array' }
  const base64 = isObject(value) ? value.get('$binary') : undefined
  if (typeof base64 !== 'string') throw unparseable()
  const numbers = decodeBinaryVector(base64)
  if ('problem' in numbers) throw unparseable()
  return { numbers, form: 'binary' }
}

function numberIn(value: Value): number {
  if (!isNumeric(value)) throw unparseable()
  return typeof value === 'number' ? value : Number(value.decimal)
}

function unparseable(): EngineError {
  return new EngineError('unparseable', 'a stored text is not a valid document')
}
