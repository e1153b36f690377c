/** An index by value on a column, or on the contents of a list, set or map. */
import type { ColumnPart } from '../../language/columns/column.ts'
import type {
  ColumnType,
  ElementType,
  PrimitiveName,
  TextFolding,
} from '../../language/columns/column-type.ts'
import type { Column, RegularIndex, Table } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import { flagIn, refuseUnknownKeys, type Section } from '../../options/option-section.ts'
import { plainText } from './describe.ts'
import { columnTypeNames } from './given-type.ts'
import { factsOf, showColumn } from './show-column.ts'

export interface GivenRegularIndex {
  readonly column: string
  /** Undefined when the request names only the column. */
  readonly part: 'keys' | 'values' | undefined
  /** The options that the request contains. */
  readonly options: Partial<TextFolding>
}

export function readRegularIndex(column: Value, options: Section): GivenRegularIndex {
  const known = Object.keys(plainText) as (keyof TextFolding)[]
  refuseUnknownKeys(options, 'COMMAND_FIELD_UNKNOWN', known)
  const given = known.map((name) => [name, flagIn(options, name)] as const)
  return {
    ...readColumn(column),
    options: Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  }
}

function readColumn(given: Value): Pick<GivenRegularIndex, 'column' | 'part'> {
  if (typeof given === 'string') return { column: given, part: undefined }
  if (!isObject(given)) throw badFormat({ reason: 'type', type: jsonTypeOf(given) })
  const [first] = given
  if (first === undefined || given.size > 1)
    throw badFormat({ reason: 'members', members: given.size })
  const [column, selector] = first
  const chosen = typeof selector === 'string' ? selector.toLowerCase() : undefined
  if (chosen === '$keys') return { column, part: 'keys' }
  if (chosen === '$values') return { column, part: 'values' }
  throw badFormat({ reason: 'selector', column })
}

/** Types whose values have no order. An index by value cannot contain them. */
const unindexed: readonly PrimitiveName[] = ['blob', 'duration']

export const indexable = columnTypeNames.filter(
  (name) => ![...unindexed, 'userDefined', 'vector'].includes(name),
)

export function resolveRegularIndex(
  table: Table,
  column: Column,
  { part: selected, options }: GivenRegularIndex,
): Pick<RegularIndex, 'part' | 'folding'> {
  const { type } = column
  const refuse = () =>
    apiError('UNSUPPORTED_INDEXING_FOR_DATA_TYPES', {
      ...factsOf(table),
      column: showColumn(column),
      supported: indexable,
    })
  if (type.type === 'vector' || type.type === 'userDefined') throw refuse()
  if (column.isFrozen)
    throw apiError('UNSUPPORTED_INDEXING_FOR_FROZEN_COLUMN', {
      ...factsOf(table),
      column: showColumn(column),
    })
  const part = partOf(column, selected)
  const indexed = indexedTypes(type, part)
  checkOptions(table, column, part, Object.keys(options))
  if (unindexed.some((name) => indexed.includes(name))) throw refuse()
  const folding = { ...plainText, ...options }
  const isPlain = folding.caseSensitive && !folding.ascii && !folding.normalize
  return { part, ...(!isPlain && { folding }) }
}

function partOf(
  { name, type }: Column,
  selected: 'keys' | 'values' | undefined,
): ColumnPart {
  switch (type.type) {
    case 'map':
      return selected ?? 'value'
    case 'list':
    case 'set':
      return 'value'
    default:
      if (selected === undefined) return 'value'
      throw badFormat({
        reason: 'part',
        column: name,
        type: type.type,
        part: `$${selected}`,
      })
  }
}

/** The types of the values that the index contains; entries of a map have two types. */
function indexedTypes(type: ColumnType, part: ColumnPart): readonly ElementType[] {
  switch (type.type) {
    case 'map':
      if (part === 'keys') return [type.keyType]
      return part === 'values' ? [type.valueType] : [type.keyType, type.valueType]
    case 'list':
    case 'set':
      return [type.valueType]
    case 'vector':
    case 'userDefined':
      return []
    default:
      return [type.type]
  }
}

function checkOptions(
  table: Table,
  column: Column,
  part: ColumnPart,
  options: readonly string[],
): void {
  if (options.length === 0) return
  const problem = { ...factsOf(table), column: showColumn(column), options }
  if (column.type.type === 'map' && part === 'value')
    throw apiError('CANNOT_ANALYZE_ENTRIES_ON_MAP_COLUMNS', problem)
  const [indexed] = indexedTypes(column.type, part)
  if (indexed !== 'text' && indexed !== 'ascii')
    throw apiError('UNSUPPORTED_TEXT_ANALYSIS_FOR_DATA_TYPES', problem)
}

function badFormat(...why: ErrorVariables<'INVALID_FORMAT_FOR_INDEX_CREATION_COLUMN'>) {
  return apiError('INVALID_FORMAT_FOR_INDEX_CREATION_COLUMN', ...why)
}
