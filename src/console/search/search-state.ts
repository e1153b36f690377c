/** The input of a Search page, kept while the console is open. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'

export interface SearchState {
  readonly text: string
  /**
   * The numbers of a vector, or the id of a document. The search uses the vector of that document.
   */
  readonly vector: string
  readonly filter: string
  readonly limit: number
}

const empty: SearchState = { text: '', vector: '', filter: '', limit: 10 }

const states = new Map<string, Store<SearchState>>()

export function searchStateOf({ database, keyspace, name }: Place): Store<SearchState> {
  const key = `${database}/${keyspace}/${name}`
  const known = states.get(key)
  if (known !== undefined) return known
  const made = new Store(empty)
  states.set(key, made)
  return made
}
