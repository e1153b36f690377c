/** Parses the rows of an insert. */
import { BadValue } from '../../language/columns/values.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Steps } from '../../runtime/steps.ts'
import { labelOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { keyColumns, listColumns } from './column-lists.ts'
import {
  noService,
  readContent,
  type Content,
  type GivenContents,
  type TextToEmbed,
} from './column-content.ts'
import {
  checkInsertable,
  checkKnown,
  checkSupported,
  checkValues,
  rowCodes,
} from './given-columns.ts'
import { findUnfitKey } from './key-size.ts'

/**
 * Parses a row. Each check names all columns that fail it; the next check runs only if no column
 * failed.
 */
export function* readRow(store: RowStore, document: Value): Steps<GivenContents> {
  if (!isObject(document))
    throw apiError('SHRED_BAD_DOCUMENT_TYPE', { type: jsonTypeOf(document) })
  const given = columnsOf(store, document)
  const contents = new Map<Column, Content | TextToEmbed>()
  const invalid: string[] = []
  const unserved: Column[] = []
  for (const [column, value] of given) {
    const content = yield* readContent(store, column, value)
    if (content instanceof BadValue) invalid.push(`${labelOf(column)} ${content.problem}`)
    else if (content === noService) unserved.push(column)
    else contents.set(column, content)
  }
  checkValues(store, { invalid, unserved }, rowCodes)
  checkKey(store, contents)
  return contents
}

function columnsOf(store: RowStore, document: JsonObject): readonly [Column, Value][] {
  checkKnown(store, document.keys(), rowCodes)
  const given = Array.from(document, ([name, value]): [Column, Value] => [
    store.columns.get(name)!,
    value,
  ])
  checkInsertable(store)
  return given
}

function checkKey(store: RowStore, contents: GivenContents): void {
  const { key, name: target } = store
  checkSupported(store, store.unsupportedKey, rowCodes)
  const missing = key.filter((column) => contents.get(column) === undefined)
  if (missing.length > 0)
    throw apiError('MISSING_PRIMARY_KEY_COLUMNS', {
      target,
      key: keyColumns(store),
      given: listColumns(contents.keys()),
      missing: listColumns(missing),
    })
  const unfit = findUnfitKey(store, contents)
  if (unfit !== undefined) {
    const invalid = [`${labelOf(unfit.column)} ${unfit.problem}`]
    checkValues(store, { invalid, unserved: [] }, rowCodes)
  }
}
