/** The targets that a schema change alters or removes: those that it has to hold meanwhile. */
import { userTypeNameOf } from '../../../language/columns/column-type.ts'
import type { KeyspaceSchema } from '../../schema.ts'
import type { SchemaChange } from '../../schema-change.ts'

/** Their uids. Changing a type changes the tables that have columns of it. */
export function touchedBy(
  change: SchemaChange,
  { targets }: KeyspaceSchema,
): readonly string[] {
  const name = 'table' in change ? change.table : change.name
  switch (change.kind) {
    case 'createCollection':
    case 'createTable':
    case 'createType':
    case 'dropType':
      return []
    case 'alterType':
      return targets
        .filter(
          (target) =>
            target.kind === 'table' &&
            target.definition.columns.some(({ type }) => userTypeNameOf(type) === name),
        )
        .map(({ uid }) => uid)
    default:
      return targets.filter((target) => target.name === name).map(({ uid }) => uid)
  }
}
