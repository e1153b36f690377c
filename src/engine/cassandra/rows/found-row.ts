/** Rows of the engine contract, built from selected rows. */
import type { Caller } from '../../../caller/caller.ts'
import { printJson } from '../../../json/print.ts'
import { isObject, type Value } from '../../../json/value.ts'
import type { Column, ColumnValue, RowValues } from '../../../language/columns/column.ts'
import {
  rowMatcher,
  type RowMatcher,
  type RowRules,
} from '../../../language/columns/match-row.ts'
import type { RowFilter } from '../../../language/columns/row-filter.ts'
import { inTurns } from '../../../runtime/steps.ts'
import type { Row } from '../../contract.ts'
import { keyNames, type Table } from '../../schema.ts'
import { withoutSign } from '../cql/cql-values.ts'
import { analyzerOf } from './row-texts.ts'
import { indexOn } from './term.ts'

export class FoundRow implements Row {
  readonly values: RowValues
  readonly size: number

  constructor(values: RowValues, shown: readonly Column[]) {
    this.values = values
    this.size = shown.reduce((size, { name }) => {
      const value = values.get(name)
      return value === undefined ? size : size + name.length + 4 + sizeOf(value)
    }, 2)
  }

  get({ name }: Column): ColumnValue | undefined {
    return this.values.get(name)
  }
}

/** Approximate characters of the value in JSON. */
function sizeOf(value: ColumnValue): number {
  if (typeof value === 'string') return value.length + 2
  if (value instanceof Float32Array) return value.length * floatSize
  if (Array.isArray(value)) return sum(value.map((one) => sizeOf(one) + 1))
  if (!isObject(value)) return scalarSize
  return sum(Array.from(value, ([name, one]) => name.length + 4 + sizeOf(one)))
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((all, one) => all + one, 2)
}

const scalarSize = 6
const floatSize = 12

/** Checks filters on rows of a table; each filter is compiled once. */
export class RowFilters {
  readonly #rules: RowRules
  readonly #caller: Caller
  readonly #matchers = new Map<RowFilter, RowMatcher>()

  constructor(table: Table, caller: Caller) {
    this.#rules = rulesOf(table)
    this.#caller = caller
  }

  /**
   * Whether a row matches the filter. Yields to other requests between rows and within a large one.
   */
  async matches(filter: RowFilter, values: RowValues): Promise<boolean> {
    const pause = this.#caller.pause()
    if (pause !== undefined) await pause
    let matcher = this.#matchers.get(filter)
    if (matcher === undefined)
      this.#matchers.set(filter, (matcher = rowMatcher(filter, this.#rules)))
    const answer = matcher(({ name }) => values.get(name))
    return typeof answer === 'boolean' ? answer : inTurns(answer, this.#caller)
  }
}

function rulesOf(table: Table): RowRules {
  return {
    types: table.types,
    folding: (column, part) => indexOn(table, column, part)?.folding,
    terms: (column, text) => analyzerOf(table, column).terms(text),
  }
}

/** The key of a row as JSON text, which identifies the row within its table. */
export function keyOf(values: RowValues, table: Table): string {
  return printJson(keyValues(values, table).map(plain))
}

export function keyValues(values: RowValues, { definition }: Table): ColumnValue[] {
  return keyNames(definition).map((name) => values.get(name)!)
}

function plain(value: ColumnValue): Value {
  const unsigned = withoutSign(value)
  return unsigned instanceof Float32Array ? [...unsigned] : unsigned
}
