/** Types of table columns. They are plain JSON data, so engines may store them unchanged. */

/** The configuration of an embedding service. listTables returns it with `explain`. */
export interface EmbeddingService {
  readonly provider: string
  readonly modelName: string
  readonly authentication?: Readonly<Record<string, string>>
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Primitive types. Only tables created by other software have timeuuid and counter columns. */
export const primitiveNames = [
  'ascii',
  'bigint',
  'blob',
  'boolean',
  'counter',
  'date',
  'decimal',
  'double',
  'duration',
  'float',
  'inet',
  'int',
  'smallint',
  'text',
  'time',
  'timestamp',
  'timeuuid',
  'tinyint',
  'uuid',
  'varint',
] as const

export type PrimitiveName = (typeof primitiveNames)[number]

/** Reference to a user-defined type, which the keyspace defines. */
export interface UserTypeName {
  readonly type: 'userDefined'
  readonly udtName: string
}

/** Type of the elements of a list, set or map, in the form that `explain` returns. */
export type ElementType = PrimitiveName | UserTypeName

export type ColumnType =
  | { readonly type: PrimitiveName }
  | { readonly type: 'list' | 'set'; readonly valueType: ElementType }
  | {
      readonly type: 'map'
      readonly keyType: PrimitiveName
      readonly valueType: ElementType
    }
  | {
      readonly type: 'vector'
      readonly dimension: number
      readonly service?: EmbeddingService
    }
  | UserTypeName

/** Name of the user-defined type of a column or of its elements. */
export function userTypeNameOf(type: ColumnType): string | undefined {
  if (type.type === 'userDefined') return type.udtName
  if (!('valueType' in type)) return undefined
  return typeof type.valueType === 'string' ? undefined : type.valueType.udtName
}

export interface UserType {
  readonly name: string
  readonly fields: readonly UserField[]
}

export interface UserField {
  readonly name: string
  readonly type: PrimitiveName
}

export type UserTypes = readonly UserType[]

/** Options of a regular index on text that determine which texts are equal. */
export interface TextFolding {
  readonly ascii: boolean
  readonly caseSensitive: boolean
  readonly normalize: boolean
}
