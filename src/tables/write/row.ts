/** Rows between two writes: what they hold, and the records that engines keep of them. */
import { columnPath } from '../../language/columns/column-path.ts'
import type { NewRecord, StoredRecord } from '../../engine/contract.ts'
import type { Column, Table } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { shortestFloat } from '../../json/floats.ts'
import type { JsonObject, Value } from '../../json/value.ts'
import { parseRecord } from '../../paging/read.ts'
import type { AnalysisBudget } from '../../search/lexical/analysis-budget.ts'
import { analyzerFor, termsWithin } from '../../search/lexical/analyzer.ts'
import { labelOf } from '../column-label.ts'
import { columnsInOrder, keyNames } from '../primary-key.ts'
import type { RowStore } from '../row-store.ts'
import { rowText, wasInserted } from '../row-text.ts'

export interface Row {
  /** Stored values by the keys of their columns, in the order in which rows show them. */
  readonly values: JsonObject
  /** By the paths of their columns. */
  readonly vectors: ReadonlyMap<string, Float32Array>
  readonly wasInserted: boolean
}

/** What a column is given: a stored value, a vector, or nothing. */
export type Content = Value | Float32Array | undefined

export type Contents = ReadonlyMap<Column, Content>

/** The row with what is given; the columns that are not named keep what they have. */
export function withContents(
  { table }: Pick<RowStore, 'table'>,
  before: Row | undefined,
  contents: Contents,
  inserted: boolean,
): Row {
  const values: JsonObject = new Map()
  let vectors = before?.vectors ?? noVectors
  for (const { column, path, isKey } of layoutOf(table)) {
    const content = contents.has(column)
      ? contents.get(column)
      : before?.values.get(column.key)
    if (column.type.type === 'vector' && contents.has(column)) {
      vectors = withVector(vectors, path, content as Float32Array | undefined)
      if (!isKey) continue
    }
    if (content instanceof Float32Array)
      values.set(column.key, Array.from(content, shortestFloat))
    else if (content !== undefined) values.set(column.key, content)
  }
  return { values, vectors, wasInserted: inserted || (before?.wasInserted ?? false) }
}

const noVectors: Row['vectors'] = new Map()

function withVector(
  vectors: Row['vectors'],
  path: string,
  numbers: Float32Array | undefined,
): Row['vectors'] {
  const others = new Map(vectors)
  if (numbers === undefined) others.delete(path)
  else others.set(path, numbers)
  return others
}

/** Whether there is anything in it beside its key. */
export function hasValues(
  { values, vectors }: Row,
  { key }: Pick<RowStore, 'key'>,
): boolean {
  const inKey = key.filter(({ type }) => type.type === 'vector').length
  return values.size > key.length || vectors.size > inKey
}

export function openRow(record: StoredRecord): Row {
  return {
    values: parseRecord(record),
    vectors: record.search?.vectors ?? noVectors,
    wasInserted: wasInserted(record.text),
  }
}

/**
 * Throws when the row is more than can be kept. `before` is what filters saw of it so far:
 * a text that it has already need not be looked into.
 */
export function makeRecord(
  store: RowStore,
  id: string,
  row: Row,
  before: JsonObject | undefined,
  analysis: AnalysisBudget,
): NewRecord {
  const { view, limits } = store
  const text = rowText(row.values, store.table, row.wasInserted)
  if (text.length > limits.documentLengthMax)
    throw apiError('SHRED_DOC_LIMIT_VIOLATION', {
      what: `The length of the row of ${store.name} in characters`,
      actual: text.length,
      max: limits.documentLengthMax,
    })
  const document = view.indexedRow(row.values)
  const record = { id, text, document, search: { vectors: row.vectors } }
  return view.texts.size === 0 ? record : withTerms(store, record, before, analysis)
}

function withTerms(
  store: RowStore,
  record: NewRecord,
  before: JsonObject | undefined,
  analysis: AnalysisBudget,
): NewRecord {
  const { view, limits, name: target } = store
  const { document } = record
  const analyzerOf = (path: string) => analyzerFor(view.texts.get(path)!.analyzer)
  const known = new Map<string, readonly string[]>()
  const terms = (path: string) => {
    let made = known.get(path)
    if (made === undefined) {
      made = analyzerOf(path).terms(document.get(path) as string)
      known.set(path, made)
    }
    return made
  }
  const max = limits.lexicalSizeMax
  for (const path of view.texts.keys()) {
    const text = document.get(path)
    if (typeof text !== 'string' || text === before?.get(path)) continue
    const made = termsWithin(analyzerOf(path), text, { sizeMax: max, budget: analysis })
    if (made === undefined) {
      const { column } = layoutOf(store.table).find((place) => place.path === path)!
      const named = labelOf(column)
      throw apiError('ROW_TEXT_TOO_LONG', { target, column: named, max })
    }
    known.set(path, made)
  }
  return { ...record, terms }
}

interface Place {
  readonly column: Column
  readonly path: string
  readonly isKey: boolean
}

const layouts = new WeakMap<Table, readonly Place[]>()

/** The columns in the order in which rows show them. */
function layoutOf(table: Table): readonly Place[] {
  let layout = layouts.get(table)
  if (layout === undefined) layouts.set(table, (layout = makeLayout(table)))
  return layout
}

function makeLayout({ definition }: Table): readonly Place[] {
  const key = keyNames(definition)
  return columnsInOrder(definition).map((column) => ({
    column,
    path: columnPath(column.id).text,
    isKey: key.includes(column.name),
  }))
}
