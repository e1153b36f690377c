import type { CommandLevel } from '../commands/dispatch/define.ts'

/** What a command is sent to, from the path of its request. */
export interface Address {
  /** The database that the path names; undefined: the host may say. */
  readonly database: string | undefined
  readonly level: CommandLevel
  /** Empty where the level has none. */
  readonly keyspace: string
  readonly name: string
  /** What comes before the names: /v1, or more where the path names a database. */
  readonly root: string
  /** Whether it is where assistants ask, and no keyspace of that name. */
  readonly isMcp: boolean
}

/** Paths that are remembered: a client sends to few, and to them again and again. */
const knownMax = 1_000
/** Characters of such a path. */
const knownLengthMax = 200

/** Addresses of URLs, of which most have been seen before. */
export class AddressBook {
  readonly #known = new Map<string, Address>()

  /** See `addressOf`. */
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
 * The address that a URL stands for; undefined when commands cannot be sent there. What
 * comes before the usual path may name a database: /databases/<id>/v1/<keyspace>.
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
 * The database that a host names by its first label, as in
 * <id>-<region>.apps.example.com; undefined when it names none.
 */
export function databaseInHost(host: string | undefined): string | undefined {
  // Most hosts are shorter than an id: nothing else is looked at for those.
  if (host === undefined || host.length <= idLength) return undefined
  return idAtStart.exec(host)?.[0]
}

const idLength = 36
const idAtStart = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=[-.])/i
