/** Ranges of the index that comparisons, sizes and $exists of a filter select. */
import type { Filter } from '../../../language/filters/filter.ts'
import { arrayKey } from '../../../language/values/key.ts'
import type { Bound } from '../runs/runs-reader.ts'
import { rangeOf, tighterBound, type Bounds } from './bounds.ts'
import { indexedPaths } from './indexed-paths.ts'
import type { Statistics } from './statistics.ts'

export interface Range extends Bounds {
  readonly pathText: string
  readonly path: number
}

/** A range, and the parts of the filter that it decides. */
interface ServedRange {
  readonly range: Range
  readonly served: readonly Filter[]
}

/** One range per path: several bounds on a path narrow its range. */
export function rangesOf(parts: readonly Filter[], statistics: Statistics): ServedRange[] {
  const ranges = new Map<string, ServedRange>()
  for (const part of parts) {
    const bounds = boundsOf(part)
    if (bounds === undefined || part.kind === 'and' || part.kind === 'or') continue
    const pathText = part.path.text
    const path = statistics.pathId(pathText)
    if (path === 'unindexed') continue
    // No document has the path, so nothing can match.
    if (path === 'absent')
      return [{ range: { pathText, path: 0, ...nothing }, served: [part] }]
    const [low, high] = bounds
    const known = ranges.get(pathText)
    ranges.set(pathText, {
      range: {
        pathText,
        path,
        low: known === undefined ? low : tighterBound(known.range.low, low, 1),
        high: known === undefined ? high : tighterBound(known.range.high, high, -1),
      },
      served: [...(known?.served ?? []), part],
    })
  }
  return [...ranges.values()]
}

const nothing = {
  low: { key: Uint8Array.of(0xff), inclusive: false },
  high: { key: Uint8Array.of(0), inclusive: false },
}

function boundsOf(filter: Filter): [Bound, Bound] | undefined {
  if (filter.kind === 'and' || filter.kind === 'or') return undefined
  const { path } = filter
  if (path.text === '_id' || path.text.startsWith('$')) return undefined
  if (indexedPaths(path).loose) return undefined
  switch (filter.kind) {
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return rangeOf(filter)
    case 'size': {
      // A key cannot encode a size of 2^32 or more, and no array is that long, so nothing matches.
      if (filter.size >= 2 ** 32) return [nothing.low, nothing.high]
      const bound = { key: arrayKey(filter.size), inclusive: true }
      return [bound, bound]
    }
    case 'exists':
      if (!filter.exists) return undefined
      return [
        { key: Uint8Array.of(0), inclusive: true },
        { key: Uint8Array.of(0xff), inclusive: false },
      ]
    default:
      return undefined
  }
}
