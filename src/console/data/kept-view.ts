/**
 * Persists view settings per collection and table in the browser's storage, within fixed
 * limits.
 */
import type { Place } from '../api/place.ts'
import { nothingOpened, type Opened } from './document-lines.ts'

export interface GridState {
  readonly view: 'table' | 'json'
  readonly widths: ReadonlyMap<string, number>
  readonly hidden: ReadonlySet<string>
  readonly opened: Opened
  readonly pageSize: number
}

export const freshState: GridState = {
  view: 'table',
  widths: new Map(),
  hidden: new Set(),
  opened: nothingOpened,
  pageSize: 20,
}

/** The part of Storage that the console uses. Tests pass another implementation. */
export type ViewStorage = Pick<
  Storage,
  'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'
>

const prefix = 'stela.view '
/**
 * Maximum number of collections and tables with stored settings. If there are more, the settings
 * that were changed least recently are removed.
 */
const viewsMax = 100
/**
 * Maximum number of entries in each list of a view. If a list exceeds it, the latest entries are
 * kept.
 */
const entriesMax = 200
/** Maximum characters per view, because names and ids may be long. */
const lengthMax = 20_000

interface KeptView {
  readonly view: string
  readonly pageSize: number
  readonly widths: readonly (readonly [string, number])[]
  readonly hidden: readonly string[]
  readonly everywhere: readonly string[]
  readonly differing: readonly string[]
  /** Time of the last change of the view, in milliseconds since 1970. */
  readonly at: number
}

function keyOf({ database, keyspace, name }: Place): string {
  return prefix + [database, keyspace, name].map(encodeURIComponent).join('/')
}

export function readView(storage: ViewStorage, place: Place): GridState {
  try {
    const kept = JSON.parse(storage.getItem(keyOf(place)) ?? '{}') as Partial<KeptView>
    return {
      view: kept.view === 'json' ? 'json' : 'table',
      pageSize: kept.pageSize ?? freshState.pageSize,
      widths: new Map(kept.widths ?? []),
      hidden: new Set(kept.hidden ?? []),
      opened: {
        everywhere: new Set(kept.everywhere ?? []),
        differing: new Set(kept.differing ?? []),
      },
    }
  } catch {
    return freshState
  }
}

export function writeView(
  storage: ViewStorage,
  place: Place,
  state: GridState,
  now: number,
): void {
  const { view, pageSize, widths, hidden, opened } = state
  const kept: KeptView = {
    view,
    pageSize,
    widths: latest(widths),
    hidden: latest(hidden),
    everywhere: latest(opened.everywhere),
    differing: latest(opened.differing),
    at: now,
  }
  try {
    storage.setItem(keyOf(place), shortened(kept))
    removeOldest(storage)
  } catch {
    // The storage is full or disabled. The page works without it.
  }
}

function latest<T>(entries: Iterable<T>): readonly T[] {
  return [...entries].slice(-entriesMax)
}

/**
 * The view as JSON, within the maximum length. The list of single expanded values is dropped first,
 * because it is the longest and the least important.
 */
function shortened(kept: KeptView): string {
  const { view, pageSize, at } = kept
  const shorter = [
    kept,
    { ...kept, differing: [] },
    { ...kept, differing: [], everywhere: [], widths: [] },
    { view, pageSize, at },
  ]
  const texts = shorter.map((each) => JSON.stringify(each))
  return texts.find((text) => text.length <= lengthMax)!
}

function removeOldest(storage: ViewStorage): void {
  const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at)!).filter(
    (key) => key.startsWith(prefix),
  )
  if (keys.length <= viewsMax) return
  const times = new Map(keys.map((key) => [key, timeOf(storage.getItem(key)!)]))
  const [oldest] = keys.toSorted((one, other) => times.get(one)! - times.get(other)!)
  storage.removeItem(oldest!)
}

function timeOf(text: string): number {
  try {
    return (JSON.parse(text) as Partial<KeptView>).at ?? 0
  } catch {
    return 0
  }
}
