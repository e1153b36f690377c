/**
 * Uids of the targets that a schema change alters or removes. The change has to lock these targets.
 */
import { userTypeNameOf } from '../../../language/columns/column-type.ts'
import type { KeyspaceSchema } from '../../schema.ts'
import type { SchemaChange } from '../../schema-change.ts'

/**
 * Uids of the targets that a change affects. A change of a type affects the tables that use the
 * type.
 */
export function affectedTargets(
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
