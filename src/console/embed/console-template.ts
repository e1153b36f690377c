/** Templates of fields by whose text documents are searched, on documents of the console. */
import type { CollectionOptions } from '../api/place.ts'
import { Numeral, type JsonObject } from '../json/value.ts'
import { guessTextField, textFieldsOf } from '../../searchable/guess-field.ts'
import {
  hasSearchField,
  searchFieldOf,
  textSearchesOf,
  withSearchText,
} from '../../searchable/search-text.ts'
import {
  parseTemplate,
  renderTemplate,
  TemplateError,
  type TextTemplate,
} from '../../searchable/text-template.ts'

/** The choice of a field in a form. */
export interface TextChoice {
  /** The path of a field; empty for none. */
  readonly field: string
  /** Several fields, instead of one. */
  readonly template: string | undefined
}

export const noText: TextChoice = { field: '', template: undefined }

/** The choice that a form begins with: the proposed field of the documents. */
export function firstChoice(documents: readonly JsonObject[]): TextChoice {
  if (documents.some(hasSearchField)) return noText
  return { field: guessTextField(documents) ?? '', template: undefined }
}

/** Names of fields with texts, the best proposal first. */
export function textFieldNames(documents: readonly JsonObject[]): readonly string[] {
  return textFieldsOf(documents).map(({ name }) => name)
}

/** A first template, from the two best fields, the shorter one first. */
export function firstTemplate(documents: readonly JsonObject[], field: string): string {
  const other = textFieldsOf(documents).find(({ name }) => name !== field)
  if (field === '') return ''
  return other === undefined ? `{{${field}}}` : `{{${other.name}}}. {{${field}}}`
}

/** The parsed choice; undefined if no field is chosen. Throws a TemplateError if it is invalid. */
export function templateOf({ field, template }: TextChoice): TextTemplate | undefined {
  if (template !== undefined) return parseTemplate(template)
  return field === '' ? undefined : parseTemplate(field)
}

/** What is wrong with the choice; undefined if it is valid. */
export function problemOf(choice: TextChoice): string | undefined {
  try {
    templateOf(choice)
    return undefined
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return error.message
  }
}

export function searchText(template: TextTemplate, document: JsonObject): string {
  return renderTemplate(template, document, printNumeral)
}

export function printNumeral(value: object): string | undefined {
  return value instanceof Numeral ? value.text : undefined
}

/** Whether a collection with these options can be searched by a text. */
export function searchesTexts(options: CollectionOptions): boolean {
  return searchFieldOf(textSearchesOf(options)) !== undefined
}

/**
 * Returns a function that adds the search fields of the collection to a document. Calls
 * `onTextless` for documents that no search will find.
 */
export function completer(
  template: TextTemplate,
  options: CollectionOptions,
  onTextless: () => void,
): (document: JsonObject) => JsonObject {
  const searches = textSearchesOf(options)
  return (document) => {
    const text = searchText(template, document)
    if (text === '' && !hasSearchField(document)) onTextless()
    return withSearchText(document, text, searches) as JsonObject
  }
}
