/** Describes features of tables created by CQL that a data folder cannot store. */
import type { Column, KeyspaceSchema } from '../../schema.ts'

export function unsupportedFeatures(
  keyspace: string,
  { targets }: KeyspaceSchema,
): readonly string[] {
  return targets.flatMap((target) => {
    if (target.kind !== 'table') return []
    const { columns, unsupported } = target.definition
    const name = `${keyspace}.${target.name}`
    return [
      ...columns
        .filter(isOfCqlOnly)
        .map((column) => `${name}: the column ${column.name} is ${wordFor(column)}`),
      ...(unsupported?.columns ?? []).map(
        (column) => `${name}: the column ${column.name} is of type ${column.cqlDefinition}`,
      ),
      ...(unsupported?.indexes ?? []).map(
        (index) => `${name}: only CQL can use the index ${index.name}`,
      ),
    ]
  })
}

function isOfCqlOnly({ type, isStatic }: Column): boolean {
  return isStatic === true || type.type === 'counter'
}

function wordFor({ isStatic }: Column): string {
  return isStatic ? 'static' : 'a counter'
}
