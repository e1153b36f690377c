/** Collections and documents that another server of the Data API stored. */
import { readFileSync } from 'node:fs'

/** A row of a collection's table. Sets are sorted; decimals and times are texts. */
export interface StoredRow {
  readonly key: readonly [number, string]
  readonly doc_json: string
  readonly exist_keys?: readonly string[]
  readonly array_size?: Readonly<Record<string, number>>
  readonly array_contains?: readonly string[]
  readonly query_bool_values?: Readonly<Record<string, number>>
  readonly query_dbl_values?: Readonly<Record<string, string>>
  readonly query_text_values?: Readonly<Record<string, string>>
  readonly query_null_values?: readonly string[]
  readonly query_timestamp_values?: Readonly<Record<string, string>>
  readonly query_vector_value?: readonly number[]
}

/** The comment of a table, or one of its rows. */
export interface StoredLine {
  readonly table: string
  readonly comment?: string
  readonly row?: StoredRow
}

export const storedByOthers = JSON.parse(
  readFileSync(new URL('stored-by-others.json', import.meta.url), 'utf8'),
) as readonly StoredLine[]
