/**
 * Routes are in the fragment of the URL. The server serves a single page for all routes, and
 * browsers do not send the fragment to the server.
 *
 *   #/                                 start page
 *   #/db/<id>                          a database
 *   #/db/<id>/<keyspace>               a keyspace
 *   #/db/<id>/<keyspace>/<name>/data   a page of a collection or table
 *   #/operate                          a page of the server
 *
 * A question mark separates the state of a page, such as the filter of the Data tab.
 */
export interface Route {
  readonly kind: 'start' | 'page' | 'database' | 'keyspace' | 'place'
  /** Name of a page of the server. */
  readonly page: string
  readonly database: string
  readonly keyspace: string
  readonly name: string
  readonly tab: string
  /** State of the page, as parameters of a URL. */
  readonly query: string
}

/**
 * The id of the home database in URLs. Everywhere else, the home database has the empty string as
 * its id.
 */
const home = 'home'

export const nowhere: Route = {
  kind: 'start',
  page: '',
  database: '',
  keyspace: '',
  name: '',
  tab: '',
  query: '',
}

export function parseRoute(hash: string): Route {
  // Names are escaped, so the first question mark is the separator.
  const [path = '', ...parameters] = hash.replace(/^#?\/?/, '').split('?')
  const query = parameters.join('?')
  const [first = '', ...rest] = path.split('/').map(decode)
  if (first === '') return nowhere
  if (first !== 'db') return { ...nowhere, kind: 'page', page: first }
  const [id = '', keyspace = '', name = '', tab = 'data'] = rest
  const database = id === home ? '' : id
  if (keyspace === '') return { ...nowhere, kind: 'database', database }
  if (name === '') return { ...nowhere, kind: 'keyspace', database, keyspace }
  return { ...nowhere, kind: 'place', database, keyspace, name, tab, query }
}

export function routeTo(database: string, keyspace = '', name = '', tab = ''): string {
  const parts = [database === '' ? home : database, keyspace, name, tab]
  return `#/db/${parts
    .filter((part) => part !== '')
    .map(encodeURIComponent)
    .join('/')}`
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
