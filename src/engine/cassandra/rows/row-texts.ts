/** Texts of rows in the term index, and the keys by which it identifies the rows. */
import { createHash } from 'node:crypto'
import { parseStored } from '../../../json/parse.ts'
import type { Value } from '../../../json/value.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import { keyFilter } from '../../../language/columns/key-conditions.ts'
import type { RowFilter } from '../../../language/columns/row-filter.ts'
import { analyzerFor, type Analyzer } from '../../../search/lexical/analyzer.ts'
import { keyColumns, type Table, type TextIndex } from '../../schema.ts'
import { printAnalyzer } from '../catalog/index-ddl.ts'
import type { TextPlace } from '../lexical/postings.ts'

/** The place of a column's texts in the term index; undefined: the column has no text index. */
export function textPlaceOf(table: Table, column: string): TextPlace | undefined {
  const index = textIndexOn(table, column)
  return index && placeOfIndex(table, index)
}

/**
 * The place of an index's texts. Its path depends on the analyzer, because another analyzer
 * produces other terms.
 */
export function placeOfIndex(
  { uid }: Pick<Table, 'uid'>,
  { column, analyzer }: Pick<TextIndex, 'column' | 'analyzer'>,
): TextPlace {
  const digest = createHash('sha256').update(printAnalyzer(analyzer)).digest('base64url')
  return { target: uid, path: `${digest.slice(0, 8)} ${column}` }
}

export function textIndexesOf({ definition }: Table): readonly TextIndex[] {
  return definition.indexes.filter((index): index is TextIndex => index.kind === 'text')
}

function textIndexOn(table: Table, column: string): TextIndex | undefined {
  return textIndexesOf(table).find((index) => index.column === column)
}

export function analyzerOf(table: Table, { name }: Column): Analyzer {
  return analyzerFor(textIndexOn(table, name)!.analyzer)
}

/** Parses a key printed by `keyOf` (found-row.ts) into its values, in order. */
export function valuesOfKey(key: string): readonly Value[] {
  return parseStored(key) as Value[]
}

/** A filter that matches only the row with this key. */
export function filterForKey({ definition }: Table, key: string): RowFilter {
  const columns = keyColumns(definition)
  const values = valuesOfKey(key)
  const conditions = new Map(
    columns.map((column, at) => [column.name, { eq: [valueOf(column, values[at]!)] }]),
  )
  return keyFilter(conditions, columns)
}

function valueOf({ type }: Column, value: Value): ColumnValue {
  return type.type === 'vector' ? Float32Array.from(value as number[]) : value
}
