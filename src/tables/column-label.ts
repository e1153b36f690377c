/** Labels of columns in messages: name(type). */
import type { ColumnType, ElementType } from '../language/columns/column-type.ts'
import type { Column } from '../engine/schema.ts'

export function labelOf({ name, type }: Pick<Column, 'name' | 'type'>): string {
  return `${name}(${typeLabel(type)})`
}

export function labelsOf(columns: Iterable<Column>): string[] {
  return Array.from(columns, labelOf)
}

function typeLabel(type: ColumnType): string {
  switch (type.type) {
    case 'list':
    case 'set':
      return `${type.type}<${elementLabel(type.valueType)}>`
    case 'map':
      return `map<${type.keyType}, ${elementLabel(type.valueType)}>`
    case 'userDefined':
      return type.udtName
    default:
      return type.type
  }
}

function elementLabel(type: ElementType): string {
  return typeof type === 'string' ? type : type.udtName
}

/** Labels of CQL-only columns, with their CQL types. */
export function unsupportedLabels(
  { unsupported }: { readonly unsupported: ReadonlyMap<string, string> },
  names: Iterable<string>,
): readonly string[] {
  return Array.from(names, (name) => `${name}(${unsupported.get(name)!})`)
}
