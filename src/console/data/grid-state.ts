/** How documents are looked at: kept for each collection and table while the page is open. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import { nothingOpened, type Opened } from './document-lines.ts'

export interface GridState {
  readonly view: 'table' | 'json'
  readonly widths: ReadonlyMap<string, number>
  readonly hidden: ReadonlySet<string>
  readonly opened: Opened
  readonly pageSize: number
}

const fresh: GridState = {
  view: 'table',
  widths: new Map(),
  hidden: new Set(),
  opened: nothingOpened,
  pageSize: 20,
}

const states = new Map<string, Store<GridState>>()

export function gridStateOf({ database, keyspace, name }: Place): Store<GridState> {
  const key = `${database}/${keyspace}/${name}`
  const known = states.get(key)
  if (known !== undefined) return known
  const made = new Store(fresh)
  states.set(key, made)
  return made
}
