import { apiError } from '../../errors/api-error.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import type { Filter } from '../filters/filter.ts'
import type { Path } from '../values/path.ts'
import { PathTree } from '../values/path-tree.ts'

/**
 * The initial document of an upsert: the equalities at the top level of the filter. Conditions in
 * an explicit $and or $or are not copied, nor are ranges, lists and negations.
 */
export function equalityDocument(filter: Filter): JsonObject {
  const parts = filter.kind === 'and' ? filter.of : [filter]
  const equalities = parts.flatMap((part) => (part.kind === 'eq' ? [part] : []))
  checkOverlaps(equalities.map((part) => part.path))
  const document: JsonObject = new Map()
  const id = equalities.find((part) => part.path.text === '_id')
  if (id !== undefined) document.set('_id', id.value)
  for (const { path, value } of equalities) {
    let holder = document
    for (const segment of path.segments.slice(0, -1)) {
      const child = holder.get(segment)
      const object = isObject(child) ? child : new Map<string, Value>()
      holder.set(segment, object)
      holder = object
    }
    holder.set(path.segments.at(-1)!, value)
  }
  return document
}

/**
 * Throws if paths overlap. If they do not, every object above a value was created by
 * `equalityDocument`, which may therefore modify these objects.
 */
function checkOverlaps(paths: readonly Path[]): void {
  const tree = new PathTree<Path>()
  for (const path of paths) {
    const other = tree.add(path.segments, path)
    if (other !== undefined)
      throw apiError('UNSUPPORTED_UPDATE_OPERATION_PATH', {
        operator: 'The upsert',
        path: path.text,
        reason: `the filter also has a value for "${other.text}", and the two paths overlap`,
      })
  }
}
