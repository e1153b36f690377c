/** Texts of documents in the term index, and the keys by which it identifies the documents. */
import { readNumeral } from '../../../json/decimal.ts'
import type { JsonObject, Value } from '../../../json/value.ts'
import { analyzerFor, type Analyzer } from '../../../search/lexical/analyzer.ts'
import type { Collection } from '../../contract.ts'
import type { TextPlace } from '../lexical/postings.ts'
import { keyOf } from './document-key.ts'

const path = '$lexical'

export function textPlace({ uid }: Collection): TextPlace {
  return { target: uid, path }
}

/** The text of a document; undefined: it has none. */
export function textIn(document: JsonObject): string | undefined {
  const text = document.get(path)
  return typeof text === 'string' && text !== '' ? text : undefined
}

export function analyzerIn({ options }: Collection): Analyzer {
  return analyzerFor(options.lexical.analyzer)
}

/** The terms of a document's text according to the collection's analyzer. */
export function termsIn(
  document: JsonObject,
  collection: Collection,
): readonly string[] | undefined {
  const text = textIn(document)
  return text === undefined ? undefined : analyzerIn(collection).terms(text)
}

/**
 * The key of a document in the term index. It is the same for all spellings of the document's own
 * key.
 */
export function textKeyOf(id: Value): string {
  const { type, text } = keyOf(id)
  return `${type}:${text}`
}

/** The _id in a text key, or a value that every sort order treats as equal to the _id. */
export function idOfTextKey(key: string): Value {
  const text = key.slice(2)
  switch (key[0]) {
    case '2':
      return readNumeral(text)
    case '3':
      return text === 'true'
    case '4':
      return null
    case '5':
      return new Map([['$date', Number(text)]])
    default:
      return text
  }
}
