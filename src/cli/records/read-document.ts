/** Converts records of an input to the documents and rows to send. */
import { isUtf8 } from 'node:buffer'
import { JsonProblem, parseJson } from '../../json/parse.ts'
import { printJson } from '../../json/print.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { defaultLimits } from '../../limits.ts'
import { BadRecord, readHeader, readRow, type CellReader } from './csv.ts'
import { CommandFailure } from './failure.ts'
import type { RawRecord } from './split.ts'

/** Returns the JSON text of a document or row. */
export type DocumentReader = (record: RawRecord) => string | BadRecord

/** Adds fields to a document. Returns the same document if it adds none. */
export type DocumentCompleter = (document: JsonObject) => JsonObject

/**
 * Reads JSON records, which must be objects. Returns the text of a record unchanged, including
 * digits and the order of keys, unless `complete` adds fields, or the record has both `$vector` and
 * `$vectorize`.
 */
export function jsonReader(embeds: boolean, complete: DocumentCompleter): DocumentReader {
  return (record) => {
    const text = textOf(record)
    if (text instanceof BadRecord) return text
    const document = readJson(text)
    if (document instanceof BadRecord) return document
    if (!isObject(document))
      return new BadRecord(
        `the record must be a JSON object, but is ${jsonTypeOf(document)}`,
      )
    const isBoth = document.has('$vector') && document.has('$vectorize')
    // An export contains both `$vector` and `$vectorize`, but an insert accepts only one of them.
    if (isBoth) document.delete(embeds ? '$vector' : '$vectorize')
    const whole = complete(document)
    return isBoth || whole !== document ? printJson(whole) : text
  }
}

/** Reads the CSV records after `header`, which is the first record of the file. */
export function csvReader(
  header: RawRecord,
  readCell: CellReader,
  complete: DocumentCompleter,
): DocumentReader {
  const text = textOf(header)
  if (text instanceof BadRecord)
    throw new CommandFailure(`the CSV header is invalid: ${text.reason}.`)
  const names = readHeader(text)
  return (record) => {
    const text = textOf(record)
    if (text instanceof BadRecord) return text
    const row = readRow(names, text, readCell)
    return row instanceof BadRecord ? row : printJson(complete(row))
  }
}

function textOf({ bytes, problem }: RawRecord): string | BadRecord {
  if (problem !== undefined) return new BadRecord(problem)
  return isUtf8(bytes) ? bytes.toString() : new BadRecord('the record is not valid UTF-8')
}

/** Nesting levels around a document in a request: the body, the command, the list. */
const levelsAround = 3

function readJson(text: string): Value | BadRecord {
  try {
    return parseJson(text, {
      depthMax: defaultLimits.jsonDepthMax - levelsAround,
      numeralLengthMax: defaultLimits.numeralLengthMax,
    })
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error
    return new BadRecord(`the record is not valid JSON: ${error.message}`)
  }
}
