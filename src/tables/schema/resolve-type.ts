/**
 * Resolves parsed types to column types. Errors have this precedence: types that new
 * columns cannot have; then, column by column, element types of collections, the dimension
 * and service of a vector, and the name of a user-defined type.
 */
import {
  primitiveNames,
  userTypeNameOf,
  type ColumnType,
  type ElementType,
  type PrimitiveName,
  type UserTypes,
} from '../../language/columns/column-type.ts'
import type { Column, EmbeddingService } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { Value } from '../../json/value.ts'
import type { EmbeddingProviders } from '../../providers/embedding-providers.ts'
import {
  resolveEmbeddingService,
  type GivenService,
} from '../../providers/embedding-service.ts'
import { quoteJson } from '../../language/values/quote-json.ts'
import { columnTypeNames, type GivenType, type TypeName } from './given-type.ts'

/** Server settings that types are validated against. */
export interface TypeContext {
  readonly features: { readonly vectorize: boolean }
  readonly embeddingProviders: EmbeddingProviders
}

export function resolveColumns(
  given: ReadonlyMap<string, GivenType>,
  context: TypeContext,
  refusal:
    'UNSUPPORTED_DATA_TYPE_TABLE_CREATION' | 'CANNOT_ADD_UNSUPPORTED_DATA_TYPE_COLUMNS',
): Column[] {
  const unsupported = [...given].filter(([, { name }]) => !columnTypeNames.includes(name))
  if (unsupported.length > 0)
    throw apiError(refusal, {
      supported: columnTypeNames,
      used: unsupported.map(([column, { name }]) => `${column}(${name})`),
    })
  return [...given].map(([name, type]) => {
    return { name, type: resolveType(name, type, context) }
  })
}

/** Throws when a user-defined type of the columns does not exist. */
export function checkUserTypes(columns: readonly Column[], types: UserTypes): void {
  const existing = types.map(({ name }) => name)
  const unknown = columns.flatMap(({ type }) => {
    const name = userTypeNameOf(type)
    return name === undefined || existing.includes(name) ? [] : [`"${name}"`]
  })
  if (unknown.length > 0)
    throw apiError('UNKNOWN_USER_DEFINED_TYPE', {
      names: [...new Set(unknown)],
      existing: existing.toSorted(),
    })
}

/** Element types of lists, sets and maps, besides user-defined types. */
export const elementTypeNames = primitiveNames.filter((name) =>
  columnTypeNames.includes(name),
)

const keyTypeNames = elementTypeNames.filter((name) => name !== 'duration')

function resolveType(column: string, given: GivenType, context: TypeContext): ColumnType {
  const { name } = given
  switch (name) {
    case 'list':
    case 'set':
      return { type: name, valueType: resolveValueType(column, name, given) }
    case 'map':
      return {
        type: name,
        keyType: resolveKeyType(given),
        valueType: resolveValueType(column, name, given),
      }
    case 'vector':
      return resolveVector(column, given, context)
    case 'userDefined':
      return { type: name, udtName: checkUserTypeName(column, given) }
    default:
      return { type: name }
  }
}

function resolveKeyType({ keyType }: GivenType): PrimitiveName {
  const name = keyTypeNames.find((candidate) => candidate === keyType?.name)
  if (name === undefined)
    throw apiError('UNSUPPORTED_MAP_DEFINITION', {
      member: 'keyType',
      supported: keyTypeNames,
      used: [shown(keyType)],
    })
  return name
}

const definitionProblems = {
  list: 'UNSUPPORTED_LIST_DEFINITION',
  set: 'UNSUPPORTED_SET_DEFINITION',
} as const

function resolveValueType(
  column: string,
  holder: 'list' | 'set' | 'map',
  { valueType }: GivenType,
): ElementType {
  if (valueType?.name === 'userDefined')
    return { type: 'userDefined', udtName: checkUserTypeName(column, valueType) }
  const name = elementTypeNames.find((candidate) => candidate === valueType?.name)
  if (name !== undefined) return name
  const choice = {
    supported: [...elementTypeNames, 'userDefined'],
    used: [shown(valueType)],
  }
  throw holder === 'map'
    ? apiError('UNSUPPORTED_MAP_DEFINITION', { member: 'valueType', ...choice })
    : apiError(definitionProblems[holder], choice)
}

function shown(type: { readonly name: TypeName } | undefined): string {
  return type === undefined ? 'nothing' : `"${type.name}"`
}

function checkUserTypeName(column: string, { udtName }: GivenType): string {
  if (udtName === undefined || udtName.trim() === '')
    throw apiError('INVALID_USER_DEFINED_TYPE_NAME', {
      column,
      name: udtName === undefined ? 'missing' : quoteJson(udtName),
    })
  return udtName
}

function resolveVector(
  column: string,
  given: GivenType,
  context: TypeContext,
): ColumnType & { readonly type: 'vector' } {
  const dimension = readDimension(column, given.dimension)
  if (given.service !== undefined)
    return { type: 'vector', ...resolveService(column, given.service, dimension, context) }
  if (dimension === undefined)
    throw apiError('MISSING_DIMENSION_IN_VECTOR_COLUMN', { column })
  return { type: 'vector', dimension }
}

/** The embedding service of a vector column and its dimension. */
export function resolveService(
  column: string,
  service: GivenService,
  dimension: number | undefined,
  { features, embeddingProviders }: TypeContext,
): { readonly dimension: number; readonly service: EmbeddingService } {
  if (!features.vectorize) throw apiError('VECTORIZE_FEATURE_NOT_AVAILABLE')
  const where = `columns.${column}`
  return resolveEmbeddingService(service, dimension, embeddingProviders, where)
}

/** Reads a dimension: a number or its text. Blank text counts as absent. */
function readDimension(column: string, given: Value | undefined): number | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given.trim() === '') return undefined
  const dimension =
    typeof given === 'string' && /^\s*\+?\d+\s*$/.test(given) ? Number(given) : given
  if (typeof dimension !== 'number' || !Number.isSafeInteger(dimension) || dimension <= 0)
    throw apiError('UNSUPPORTED_VECTOR_DIMENSION', { column, value: quoteJson(given) })
  return dimension
}
