import type { CommandLevel } from '../commands/dispatch/define.ts'

/** The address to which a command is sent, parsed from the path of the request. */
export interface Address {
  /** The database in the path. Undefined: the host name may contain a database. */
  readonly database: string | undefined
  readonly level: CommandLevel
  /** Empty if the path has no keyspace. */
  readonly keyspace: string
  readonly name: string
  /** Prefix of the path, before the names: /v1, /api/json/v1 or /databases/<id>/v1. */
  readonly root: string
  /** Whether the path is /v1/mcp. `mcp` is then not the name of a keyspace. */
  readonly isMcp: boolean
}

/** Maximum cached paths. A client usually sends to a few paths. */
const knownMax = 1_000
/** Maximum characters of a cached path. */
const knownLengthMax = 200

/** Caches parsed addresses by URL. */
export class AddressBook {
  readonly #known = new Map<string, Address>()

  /** Returns the same as `addressOf`, from the cache if possible. */
  find(url: string): Address | undefined {
    const known = this.#known.get(url)
    if (known !== undefined) return known
    const address = addressOf(url)
    if (address === undefined || url.length > knownLengthMax) return address
    if (this.#known.size >= knownMax) this.#known.clear()
    this.#known.set(url, address)
    return address
  }
}

const shortPrefix = '/v1'
const longPrefix = '/api/json/v1'
const databasePrefix = '/databases/'

/**
 * Parses the path of a URL; undefined when it accepts no commands. The path may start with a
 * database: /databases/<id>/v1/<keyspace>.
 */
export function addressOf(url: string): Address | undefined {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  if (!path.startsWith(databasePrefix)) return addressIn(undefined, path)
  const end = path.indexOf('/', databasePrefix.length)
  if (end < 0) return undefined
  return addressIn(path.slice(databasePrefix.length, end), path.slice(end))
}

function addressIn(database: string | undefined, path: string): Address | undefined {
  const prefix = path.startsWith(shortPrefix) ? shortPrefix : longPrefix
  if (!path.startsWith(prefix)) return undefined
  const rest = path.endsWith('/')
    ? path.slice(prefix.length, -1)
    : path.slice(prefix.length)
  const root = database === undefined ? prefix : `${databasePrefix}${database}${prefix}`
  if (rest === '')
    return { database, root, level: 'general', keyspace: '', name: '', isMcp: false }
  const [before, keyspace, name, ...more] = rest.split('/')
  if (before !== '' || keyspace === '' || name === '' || more.length > 0) return undefined
  try {
    return {
      database,
      root,
      level: name === undefined ? 'keyspace' : 'target',
      keyspace: decode(keyspace!),
      name: name === undefined ? '' : decode(name),
      isMcp: name === undefined && keyspace === 'mcp',
    }
  } catch {
    return undefined
  }
}

function decode(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment) : segment
}

/**
 * The database in the first label of a host name, such as <id>-<region>.apps.example.com;
 * undefined if the host names no database.
 */
export function databaseInHost(host: string | undefined): string | undefined {
  // Fast path: most hosts are shorter than a database id.
  if (host === undefined || host.length <= idLength) return undefined
  return idAtStart.exec(host)?.[0]
}

const idLength = 36
const idAtStart = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=[-.])/i
