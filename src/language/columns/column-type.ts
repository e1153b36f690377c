/** The types that columns of tables have. Plain JSON data: engines may store it as it is. */

/** An embedding service, as it was configured and as explain shows it. */
export interface EmbeddingService {
  readonly provider: string
  readonly modelName: string
  readonly authentication?: Readonly<Record<string, string>>
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Types without parts. Tables that were made elsewhere may have timeuuid and counter. */
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

/** A user-defined type is named; what it is made of the keyspace says. */
export interface UserTypeName {
  readonly type: 'userDefined'
  readonly udtName: string
}

/** What lists, sets and maps hold, in the form in which explain shows it. */
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

/** The name of the user-defined type that a column is, or holds several of. */
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

/** How a regular index on texts makes them comparable. */
export interface TextFolding {
  readonly ascii: boolean
  readonly caseSensitive: boolean
  readonly normalize: boolean
}
