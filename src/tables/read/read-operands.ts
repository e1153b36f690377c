/** What columns are compared with: from values as they were written to comparables. */
import type { Caller } from '../../caller.ts'
import type { ElementType } from '../../language/columns/column-type.ts'
import { columnPath } from '../../language/columns/column-path.ts'
import { comparable, comparableEntry } from '../../language/columns/comparable.ts'
import { BadValue, readElement } from '../../language/columns/values.ts'
import type { Column } from '../../engine/schema.ts'
import type { Value } from '../../json/value.ts'
import { readTerms, type TermsPlace } from '../../language/filters/terms.ts'
import { budgetOf } from '../../search/lexical/analysis-budget.ts'
import { analyzerFor, termsWithin } from '../../search/lexical/analyzer.ts'
import { unfitValue } from '../column-clause.ts'
import type { RowStore } from '../row-store.ts'
import type { RowCondition } from './row-condition.ts'

/** Throws when one of the values does not fit its column. */
export function readOperands(
  condition: RowCondition,
  store: RowStore,
  caller: Caller,
): readonly Value[] {
  const { kind, column, part, operands } = condition
  if (kind === 'match')
    return termsIn(column, operands[0] as string, 'filter', store, caller)
  const { type } = column
  const read = (element: ElementType) => (value: Value) =>
    readComparable(element, value, column, store)
  switch (type.type) {
    case 'list':
    case 'set':
      return operands.map(read(type.valueType))
    case 'map': {
      const readKey = read(type.keyType)
      const readMapped = read(type.valueType)
      switch (part) {
        case 'keys':
          return operands.map(readKey)
        case 'values':
          return operands.map(readMapped)
        case 'value':
          return operands.map((entry) => {
            const [key, mapped] = entry as [Value, Value]
            return comparableEntry(readKey(key), readMapped(mapped))
          })
      }
    }
    // Every part is handled above, and none falls through.
    case 'vector':
      throw unfitValue(
        column,
        [...operands],
        'cannot be: vectors are sorted by only',
        store,
      )
    case 'userDefined':
      throw unfitValue(
        column,
        [...operands],
        'cannot be: user-defined values are compared inside lists, sets and maps only',
        store,
      )
    default:
      return operands.map(read(type.type))
  }
}

function readComparable(
  type: ElementType,
  value: Value,
  column: Column,
  store: RowStore,
): Value {
  const { types } = store.table
  const stored = readElement(type, value, types, true)
  if (stored instanceof BadValue) throw unfitValue(column, value, stored.problem, store)
  return comparable(type, stored, types)
}

/** The terms of a text that is looked for in a column with a text index. */
export function termsIn(
  column: Column,
  text: string,
  clause: TermsPlace['clause'],
  store: RowStore,
  caller: Caller,
): readonly string[] {
  const analyzer = analyzerFor(store.view.texts.get(columnPath(column.id).text)!.analyzer)
  const bounds = { sizeMax: store.limits.lexicalSizeMax, budget: budgetOf(caller) }
  const place = { target: store.name, field: column.name, clause }
  return readTerms(text, (given) => termsWithin(analyzer, given, bounds), place)
}
