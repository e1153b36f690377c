/** View settings of a collection or table, which all of its pages share. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import { readView, writeView, type GridState } from './kept-view.ts'

const states = new Map<string, Store<GridState>>()

export function gridStateOf(place: Place): Store<GridState> {
  const { database, keyspace, name } = place
  const key = `${database}/${keyspace}/${name}`
  const known = states.get(key)
  if (known !== undefined) return known
  const made = new Store(readView(localStorage, place))
  made.watch(() => writeView(localStorage, place, made.get(), Date.now()))
  states.set(key, made)
  return made
}
