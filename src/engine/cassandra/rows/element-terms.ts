/** Terms for conditions on elements of lists, sets and maps (see row-terms.ts). */
import type { Value } from '../../../json/value.ts'
import type { ElementType, PrimitiveName } from '../../../language/columns/column-type.ts'
import type { RowComparison } from '../../../language/columns/row-filter.ts'
import type { RegularIndex, Table } from '../../schema.ts'
import { quoteName, type Statement } from '../cluster/statement.ts'
import { termsMax } from '../system/read-limits.ts'
import { bindElement } from '../cql/cql-values.ts'
import {
  anyOf,
  indexOn,
  isFloating,
  isLong,
  type RowTerm,
  type TermContext,
} from './term.ts'

/** Terms for a condition on elements; undefined: the cluster cannot serve the condition. */
export function elementTerms(
  condition: RowComparison,
  { table, can }: TermContext,
): readonly RowTerm[] | undefined {
  const { kind, column, part, operands } = condition
  const isNegated = kind === 'nin' || kind === 'notAll'
  if (isNegated && !can.notContains) return undefined
  const index = indexOn(table, column, part)
  const elements = elementTypes(condition)
  if (!isToldApart(condition, elements, index)) return undefined
  const isAny = kind === 'in' || kind === 'notAll'
  // If a row must have all operands, terms for a few of them suffice: the other operands are
  // checked on the candidates.
  const asked = isAny ? operands : operands.slice(0, termsMax)
  const isExact =
    asked.length === operands.length &&
    index?.folding === undefined &&
    elements.every((type) => type !== 'decimal' && type !== 'inet')
  const terms = asked.map((operand): RowTerm => ({
    ...elementTerm(condition, operand, elements, isNegated, table),
    isIndexed: index !== undefined,
    isExact,
  }))
  if (!isAny || terms.length === 1) return terms
  return can.or && terms.length > 1 ? [anyOf(terms)] : undefined
}

function elementTerm(
  { column, part }: RowComparison,
  operand: Value,
  [first, second]: readonly ElementType[],
  isNegated: boolean,
  { types }: Table,
): Statement {
  const name = quoteName(column.name)
  if (second === undefined) {
    const operator = part === 'keys' ? 'CONTAINS KEY' : 'CONTAINS'
    return {
      text: `${name} ${isNegated ? 'NOT ' : ''}${operator} ?`,
      values: [bindElement(first!, operand, types)],
    }
  }
  const [key, value] = operand as [Value, Value]
  return {
    text: `${name}[?] ${isNegated ? '!=' : '='} ?`,
    values: [bindElement(first!, key, types), bindElement(second, value, types)],
  }
}

/** Types of the parts of an element: key and value of a map entry, otherwise one type. */
function elementTypes({ column: { type }, part }: RowComparison): readonly ElementType[] {
  if (type.type !== 'map') return 'valueType' in type ? [type.valueType] : []
  if (part === 'keys') return [type.keyType]
  return part === 'values' ? [type.valueType] : [type.keyType, type.valueType]
}

/** Whether the cluster distinguishes elements exactly like match-row.ts. */
function isToldApart(
  { column, operands }: RowComparison,
  elements: readonly ElementType[],
  index: RegularIndex | undefined,
): boolean {
  const isEntry = elements.length > 1
  if (isEntry && column.isFrozen) return false
  // An index on entries compares encoded bytes, and equal values may have several encodings.
  const isByBytes = isEntry && index !== undefined
  return (
    elements.every(
      (type) => typeof type === 'string' && !(isByBytes && hasSpellings(type)),
    ) &&
    operands.every((operand) => {
      const parts = isEntry ? (operand as Value[]) : [operand]
      return parts.every(
        (value, at) =>
          !(value === 0 && isFloating(elements[at] as string)) &&
          !(typeof value === 'string' && !value.isWellFormed()) &&
          !(index !== undefined && isLong(value)),
      )
    })
  )
}

function hasSpellings(type: PrimitiveName): boolean {
  return type === 'decimal' || type === 'inet'
}
