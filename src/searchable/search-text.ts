/** The search fields that a collection has, and the documents that get a text in them. */
import type { FieldMap } from './field-path.ts'

/** The options of a collection, as findCollections explains them. */
export interface SearchableOptions {
  readonly vector?: { readonly service?: unknown }
  readonly lexical?: { readonly enabled?: boolean }
  readonly indexing?: {
    readonly allow?: readonly string[]
    readonly deny?: readonly string[]
  }
}

/** Which searches of a collection use a text. */
export interface TextSearches {
  /** By meaning: a model embeds $vectorize. */
  readonly vectors: boolean
  /** By words: $lexical. */
  readonly words: boolean
}

export function textSearchesOf({ vector, lexical }: SearchableOptions): TextSearches {
  return {
    vectors: vector?.service !== undefined && vector.service !== null,
    words: lexical?.enabled === true,
  }
}

/** The search field that gets the text; undefined if the collection searches no texts. */
export function searchFieldOf({
  vectors,
  words,
}: TextSearches): '$hybrid' | '$vectorize' | '$lexical' | undefined {
  if (vectors) return words ? '$hybrid' : '$vectorize'
  return words ? '$lexical' : undefined
}

/** Why a collection cannot search texts, and what to do. */
export const noTextSearch =
  'The collection has neither an embedding model nor lexical search, so it cannot be searched ' +
  'by text. Create a collection with a model, such as the built-in one, and import into it.'

/**
 * Maximum UTF-8 bytes of a $lexical text. The server limits the terms of a text, and the terms of
 * usual analyzers are no longer than the text. Of a longer text, the start is searched by words.
 */
export const lexicalTextSizeMax = 8_000

/** The start of the text that can be searched by words. It ends at the end of a word. */
export function lexicalTextOf(text: string): string {
  // A character has at most three bytes per UTF-16 unit.
  if (text.length * 3 <= lexicalTextSizeMax) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= lexicalTextSizeMax) return text
  // A character that is cut becomes U+FFFD, which the last word is dropped with.
  const start = new TextDecoder().decode(bytes.subarray(0, lexicalTextSizeMax))
  return start
    .replace(/\uFFFD+$/, '')
    .replace(/(\s)\S*$/, '$1')
    .trimEnd()
}

/**
 * The document with its text in the search fields that it lacks. Search fields that the document
 * has are kept. Returns the same document if nothing is added.
 */
export function withSearchText<D extends FieldMap>(
  document: D,
  text: string,
  { vectors, words }: TextSearches,
): D | Map<string, unknown> {
  if (text === '' || document.has('$hybrid')) return document
  const addsVector = vectors && !document.has('$vector') && !document.has('$vectorize')
  const addsWords = words && !document.has('$lexical')
  if (!addsVector && !addsWords) return document
  const added = new Map<string, unknown>(document)
  const lexical = lexicalTextOf(text)
  const isWhole = lexical === text
  if (addsVector && addsWords)
    return added.set(
      '$hybrid',
      isWhole
        ? text
        : new Map([
            ['$lexical', lexical],
            ['$vectorize', text],
          ]),
    )
  if (addsVector) added.set('$vectorize', text)
  if (addsWords) added.set('$lexical', lexical)
  return added
}

/** Whether a document has a search field of its own. */
export function hasSearchField(document: FieldMap): boolean {
  return ['$hybrid', '$vectorize', '$lexical', '$vector'].some((name) => document.has(name))
}
