/** The paths of the index at which the values of a filter's path are found. */
import { arrayPosition, escapeSegment, type Path } from '../../../language/values/path.ts'
import { arrayStep } from '../format/entries.ts'

/**
 * The paths at which the index may have the values of a filter's path. A numeric segment can be an
 * array position or a field name, so there may be several. `loose`: a hit must be confirmed in the
 * document.
 */
export function indexedPaths(path: Path): {
  readonly paths: readonly string[]
  readonly loose: boolean
} {
  const positions = path.segments.filter(
    (segment, i) => i > 0 && arrayPosition(segment) >= 0,
  ).length
  if (positions === 0) return { paths: [path.text], loose: false }
  // Each numeric segment at least doubles the number of paths. With more than four, the lookups
  // would cost more than they save.
  if (positions > 4) return { paths: [], loose: true }
  let paths = ['']
  path.segments.forEach((segment, i) => {
    const last = i === path.segments.length - 1
    const named = i === 0 ? escapeSegment(segment) : `.${escapeSegment(segment)}`
    const next = paths.map((start) => start + named)
    if (i > 0 && arrayPosition(segment) >= 0) {
      next.push(...paths.map((start) => `${start}.${arrayStep}`))
      // The elements of an array are indexed at the path of the array. If an element is an array
      // too, its own elements are indexed one step below.
      if (last) next.push(...paths)
    }
    paths = next
  })
  return { paths, loose: true }
}
