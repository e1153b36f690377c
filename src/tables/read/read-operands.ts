/** Converts operands of filters to the types of their columns. */
import type { Caller } from '../../caller/caller.ts'
import type { Value } from '../../json/value.ts'
import type { Column } from '../../language/columns/column.ts'
import type { ElementType } from '../../language/columns/column-type.ts'
import type { RowCondition } from '../../language/columns/row-filter.ts'
import { BadValue, readElement } from '../../language/columns/values.ts'
import { readTerms, type TermsPlace } from '../../language/filters/terms.ts'
import { analyzerFor, termsWithin } from '../../search/lexical/analyzer.ts'
import { unfitValue } from '../column-clause.ts'
import type { RowStore } from '../row-store.ts'
import type { WrittenCondition } from './row-condition.ts'

/** Converts the operands of a condition; throws when a value does not fit its column. */
export function readCondition(
  condition: WrittenCondition,
  store: RowStore,
  caller: Caller,
): RowCondition {
  const { kind, column, part, operands } = condition
  if (kind !== 'match')
    return { kind, column, part, operands: readOperands(condition, store) }
  const text = operands[0] as string
  return {
    kind,
    column,
    part: 'value',
    text,
    terms: termsIn(column, text, 'filter', store, caller),
  }
}

function readOperands(
  { column, part, operands }: WrittenCondition,
  store: RowStore,
): readonly Value[] {
  const { type } = column
  const read = (element: ElementType) => (value: Value) => {
    const typed = readElement(element, value, store.table.types, true)
    if (typed instanceof BadValue) throw unfitValue(column, value, typed.problem, store)
    return typed
  }
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
            return [readKey(key), readMapped(mapped)]
          })
      }
    }
    // Every part of a map returned above, so this case is reached for vectors only.
    case 'vector':
      throw unfitValue(
        column,
        [...operands],
        'is not supported: filters cannot use vectors, only sorts can',
        store,
      )
    case 'userDefined':
      throw unfitValue(
        column,
        [...operands],
        'is not supported: filters can use user-defined types only inside lists, sets and maps',
        store,
      )
    default:
      return operands.map(read(type.type))
  }
}

/** The terms of a query text, by the analyzer of the column's text index. */
export function termsIn(
  column: Column,
  text: string,
  clause: TermsPlace['clause'],
  store: RowStore,
  caller: Caller,
): readonly string[] {
  const analyzer = analyzerFor(store.analyzerOf(column))
  const bounds = { sizeMax: store.limits.lexicalSizeMax, budget: caller.analysis }
  const place = { target: store.name, field: column.name, clause }
  return readTerms(text, (given) => termsWithin(analyzer, given, bounds), place)
}
