/** Keeps the current route equal to the route in the URL. */
import { Store } from '../api/store.ts'
import { nowhere, parseRoute, type Route } from './route-hash.ts'

export { routeTo, type Route } from './route-hash.ts'

export const route = new Store<Route>(nowhere)

/** Reads the URL now and on every change. */
export function startRouting(): void {
  const read = () => {
    route.set(parseRoute(location.hash))
  }
  addEventListener('hashchange', read)
  read()
}

/** Changes the URL without a new entry in the history of the browser. */
export function replaceRoute(hash: string): void {
  history.replaceState(history.state, '', hash)
  route.set(parseRoute(hash))
}

export function goTo(hash: string): void {
  location.hash = hash
}
