/**
 * Translates values of user-defined types between keys and names of fields. Stored values use the
 * key of a field, which never changes, so that renaming the field changes no row; the layers above
 * use its current name.
 */
import type { JsonObject, Value } from '../../../json/value.ts'
import type { ColumnPart } from '../../../language/columns/column.ts'
import {
  userTypeNameOf,
  type ColumnType,
  type UserTypes,
} from '../../../language/columns/column-type.ts'
import type { RowFilter } from '../../../language/columns/row-filter.ts'
import { mapElements } from '../../../language/columns/values.ts'
import { mapConditions } from '../../../language/filters/filter-clause.ts'
import type { ElementChange } from '../../contract.ts'
import type { StoredField, StoredType } from './stored-schema.ts'

export class FieldKeys {
  /** Types of stored values, whose fields have their keys as names. */
  readonly types: UserTypes
  /**
   * Renamings of fields between names and keys, for types that have a field whose key is not
   * its name.
   */
  readonly #toKeys: Renames
  readonly #toNames: Renames

  constructor(types: readonly StoredType[]) {
    this.types = types.map(({ name, fields }) => {
      return { name, fields: fields.map(({ key, type }) => ({ name: key, type })) }
    })
    const renamed = types.filter(({ fields }) =>
      fields.some(({ name, key }) => name !== key),
    )
    this.#toKeys = renamesOf(renamed, ({ name, key }) => [name, key])
    this.#toNames = renamesOf(renamed, ({ name, key }) => [key, name])
  }

  /** Whether stored values of the type are the values that the layers above use. */
  areNames(type: ColumnType): boolean {
    return namesFor(type, this.#toKeys) === undefined
  }

  stored(type: ColumnType, value: Value): Value {
    return renamed(type, value, this.#toKeys)
  }

  named(type: ColumnType, value: Value): Value {
    return renamed(type, value, this.#toNames)
  }

  storedChange(type: ColumnType, { kind, elements }: ElementChange): ElementChange {
    const part = type.type === 'map' && kind === 'remove' ? 'keys' : 'value'
    return { kind, elements: this.#storedElements(type, part, elements) }
  }

  storedFilter(filter: RowFilter): RowFilter {
    if (this.#toKeys.size === 0) return filter
    return mapConditions(filter, (condition) => {
      if (condition.kind === 'match') return condition
      const { column, part, operands } = condition
      return { ...condition, operands: this.#storedElements(column.type, part, operands) }
    })
  }

  /** Converts elements to their stored form. Elements of a map are keys, values or entries. */
  #storedElements(
    type: ColumnType,
    part: ColumnPart,
    elements: readonly Value[],
  ): readonly Value[] {
    const names = namesFor(type, this.#toKeys)
    if (names === undefined || part === 'keys') return elements
    return elements.map((element) => {
      if (type.type !== 'map' || part === 'values') return withNames(element, names)
      const [key, value] = element as [Value, Value]
      return [key, withNames(value, names)]
    })
  }
}

/** New names of fields, by type name and old field name. */
type Renames = ReadonlyMap<string, ReadonlyMap<string, string>>

function renamesOf(
  types: readonly StoredType[],
  of: (field: StoredField) => readonly [from: string, to: string],
): Renames {
  return new Map(types.map(({ name, fields }) => [name, new Map(fields.map(of))]))
}

function namesFor(type: ColumnType, renames: Renames) {
  return renames.get(userTypeNameOf(type) ?? '')
}

function renamed(type: ColumnType, value: Value, renames: Renames): Value {
  const names = namesFor(type, renames)
  if (names === undefined) return value
  return mapElements(type, value, (element, one) =>
    typeof element === 'string' ? one : withNames(one, names),
  )
}

function withNames(value: Value, names: ReadonlyMap<string, string>): JsonObject {
  return new Map(
    Array.from(value as JsonObject, ([name, field]) => [names.get(name)!, field]),
  )
}
