/** Column types as Cassandra spells them, which is how explain shows some of them. */
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

/** Within a collection a user-defined value is written as a whole. */
function cqlElement(type: ElementType, keyspace: string): string {
  return typeof type === 'string' ? type : `frozen<${cqlUserType(type.udtName, keyspace)}>`
}
