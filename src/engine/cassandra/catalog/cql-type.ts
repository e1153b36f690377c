/** Prints and parses column types in CQL, for definitions and for rows of system_schema. */
import {
  primitiveNames,
  type ColumnType,
  type ElementType,
  type PrimitiveName,
  type UserTypes,
} from '../../../language/columns/column-type.ts'
import type { Column } from '../../schema.ts'
import { quoteName, quoteTarget } from '../cluster/statement.ts'

/** A column in a CREATE or ALTER TABLE statement. */
export function printColumn(column: Column, keyspace: string): string {
  const { name, type, isFrozen, isStatic } = column
  const printed = printType(type, keyspace)
  const whole = isFrozen ? `frozen<${printed}>` : printed
  return `${quoteName(name)} ${whole}${isStatic ? ' STATIC' : ''}`
}

export function printType(type: ColumnType, keyspace: string): string {
  switch (type.type) {
    case 'list':
    case 'set':
      return `${type.type}<${printElement(type.valueType, keyspace)}>`
    case 'map':
      return `map<${type.keyType}, ${printElement(type.valueType, keyspace)}>`
    case 'vector':
      return `vector<float, ${type.dimension}>`
    case 'userDefined':
      return quoteTarget({ keyspace, name: type.udtName })
    default:
      return type.type
  }
}

/** Prints the type of an element. User-defined types within a collection must be frozen. */
function printElement(type: ElementType, keyspace: string): string {
  return typeof type === 'string' ? type : `frozen<${printType(type, keyspace)}>`
}

export type ReadType = Pick<Column, 'type' | 'isFrozen'>

/** Parses a type of system_schema; undefined: the Data API does not support it. */
export function readType(text: string, types: UserTypes): ReadType | undefined {
  const tree = parseType(text)
  const inner = tree && frozenIn(tree)
  if (inner === undefined) {
    const type = tree && typeOf(tree, types)
    return type && { type }
  }
  const type = typeOf(inner, types)
  return type && { type, isFrozen: true }
}

/** Parses the type of a field of a user-defined type; undefined unless it is primitive. */
export function readPrimitive(text: string): PrimitiveName | undefined {
  const tree = parseType(text)
  return tree && primitiveOf(tree)
}

interface TypeTree {
  /** Name of the type, without quotes. */
  readonly name: string
  /** Whether the name is quoted. A quoted name is always that of a user-defined type. */
  readonly isQuoted: boolean
  readonly of: readonly TypeTree[]
}

function typeOf(tree: TypeTree, types: UserTypes): ColumnType | undefined {
  const { name, isQuoted, of } = tree
  const [first, second] = of
  switch (isQuoted ? '' : name) {
    case 'list':
    case 'set': {
      const valueType = first && elementOf(first, types)
      return valueType && { type: name as 'list' | 'set', valueType }
    }
    case 'map': {
      const keyType = first && primitiveOf(first)
      const valueType = second && elementOf(second, types)
      return keyType && valueType && { type: 'map', keyType, valueType }
    }
    case 'vector':
      return first?.name === 'float' && /^\d+$/.test(second?.name ?? '')
        ? { type: 'vector', dimension: Number(second!.name) }
        : undefined
    default: {
      const primitive = primitiveOf(tree)
      return primitive ? { type: primitive } : userTypeOf(tree, types)
    }
  }
}

/**
 * Type of the elements of a collection; undefined: the Data API does not support it. A frozen
 * collection has frozen elements, even if their type has no `frozen<>`.
 */
function elementOf(tree: TypeTree, types: UserTypes): ElementType | undefined {
  return primitiveOf(tree) ?? userTypeOf(frozenIn(tree) ?? tree, types)
}

function userTypeOf({ name, of }: TypeTree, types: UserTypes) {
  return of.length === 0 && types.some((type) => type.name === name)
    ? ({ type: 'userDefined', udtName: name } as const)
    : undefined
}

function primitiveOf({ name, isQuoted, of }: TypeTree): PrimitiveName | undefined {
  if (isQuoted || of.length > 0) return undefined
  return name === 'varchar' ? 'text' : primitiveNames.find((known) => known === name)
}

function frozenIn({ name, isQuoted, of }: TypeTree): TypeTree | undefined {
  return name === 'frozen' && !isQuoted ? of[0] : undefined
}

/** A vector type as some releases print it: as the name of a Java class. */
const vectorClass =
  /^'org\.apache\.cassandra\.db\.marshal\.VectorType\(org\.apache\.cassandra\.db\.marshal\.FloatType\s*,\s*(\d+)\s*\)'$/

const tokens = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\w+|[<>,]/g

function parseType(text: string): TypeTree | undefined {
  const left = text.replace(vectorClass, 'vector<float, $1>').match(tokens) ?? []
  const tree = takeType(left)
  return left.length === 0 ? tree : undefined
}

function takeType(left: string[]): TypeTree | undefined {
  const token = left.shift()
  if (token === undefined || /^['<>,]/.test(token)) return undefined
  const isQuoted = token.startsWith('"')
  const name = isQuoted ? token.slice(1, -1).replaceAll('""', '"') : token
  const of: TypeTree[] = []
  if (left[0] !== '<') return { name, isQuoted, of }
  for (let next = left.shift(); next !== '>'; next = left.shift()) {
    const part = next === undefined ? undefined : takeType(left)
    if (part === undefined) return undefined
    of.push(part)
  }
  return { name, isQuoted, of }
}
