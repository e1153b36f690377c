/** Follows the address of the page. */
import { Store } from '../api/store.ts'
import { nowhere, parseRoute, type Route } from './route-hash.ts'

export { routeTo, type Route } from './route-hash.ts'

export const route = new Store<Route>(nowhere)

/** Follows the address from now on. */
export function startRouting(): void {
  const read = () => {
    route.set(parseRoute(location.hash))
  }
  addEventListener('hashchange', read)
  read()
}

export function goTo(hash: string): void {
  location.hash = hash
}
