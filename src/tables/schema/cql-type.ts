/** Prints column types in CQL, which explain returns for some columns. */
import type { ColumnType, ElementType } from '../../language/columns/column-type.ts'
import { cqlName } from '../../language/columns/cql-name.ts'

export function cqlType(type: ColumnType, keyspace: string): string {
  switch (type.type) {
    case 'list':
    case 'set':
      return `${type.type}<${cqlElement(type.valueType, keyspace)}>`
    case 'map':
      return `map<${type.keyType}, ${cqlElement(type.valueType, keyspace)}>`
    case 'vector':
      return `vector<float, ${type.dimension}>`
    case 'userDefined':
      return cqlUserType(type.udtName, keyspace)
    default:
      return type.type
  }
}

export function cqlUserType(name: string, keyspace: string): string {
  return `${cqlName(keyspace)}.${cqlName(name)}`
}

/** The type of an element in CQL. Inside a collection, a user-defined type is frozen. */
function cqlElement(type: ElementType, keyspace: string): string {
  return typeof type === 'string' ? type : `frozen<${cqlUserType(type.udtName, keyspace)}>`
}
