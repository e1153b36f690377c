/** The collection or table of a running server that a command reads or writes. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { printJson } from '../../json/print.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import type { SearchableOptions } from '../../searchable/search-text.ts'
import { wholeNumber } from '../../settings/setting-values.ts'
import { ApiClient, memberAt, type ApiAnswer } from './api-client.ts'
import { CommandFailure } from './failure.ts'

/** Parsed values of the options that `addServerOptions` adds. */
export interface ServerOptions {
  readonly url: string
  readonly token?: string
  readonly keyspace: string
  readonly retryFor: number
}

/** Parsed values of the options that `addTargetOptions` adds. */
export interface TargetOptions extends ServerOptions {
  readonly collection?: string
  readonly table?: string
}

export function addTargetOptions(command: Command): Command {
  return addServerOptions(command)
    .addOption(new Option('--collection <name>', 'collection').conflicts('table'))
    .option('--table <name>', 'table, instead of --collection')
}

export function embeddingKeyOption(): Option {
  return new Option(
    '--embedding-key <key>',
    'API key of the embedding service of the collection',
  ).env('STELA_EMBEDDING_KEY')
}

export function connectionsOption(): Option {
  return new Option('--connections <number>', 'concurrent requests')
    .argParser(wholeNumber(1, 64))
    .default(4)
}

export function addServerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'URL of the server')
        .env('STELA_URL')
        .argParser(readUrl)
        .default('http://127.0.0.1:8181'),
    )
    .addOption(
      new Option(
        '--token <token>',
        'token for the server; prefer the variable STELA_TOKEN',
      ).env('STELA_TOKEN'),
    )
    .option('--keyspace <name>', 'keyspace', 'default_keyspace')
    .addOption(
      new Option(
        '--retry-for <seconds>',
        'how long to retry when the server is unreachable',
      )
        .argParser(wholeNumber(0, 86_400))
        .default(60),
    )
}

/** Parses a URL. Removes a trailing slash, so that paths can be appended. */
export function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8181.')
  return url.href.replace(/\/+$/, '')
}

export interface ConnectOptions {
  readonly connections: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The parts of a definition that exports and imports need. */
export interface TargetDefinition {
  /** Column types of a table by name. */
  readonly columns: ReadonlyMap<string, string>
  /** Options of a collection. */
  readonly options: SearchableOptions
}

export class RecordTarget {
  readonly kind: 'collection' | 'table'
  readonly name: string
  /** URL of the collection or table, for messages and to identify the target. */
  readonly address: string
  readonly #client: ApiClient
  readonly #keyspace: string

  constructor(options: TargetOptions, connect: ConnectOptions) {
    const { url, token, keyspace, collection, table, retryFor } = options
    const name = collection ?? table
    if (name === undefined)
      throw new CommandFailure('the target is missing. Pass --collection or --table.')
    const { connections, headers = {} } = connect
    const retryForMs = retryFor * 1000
    this.kind = collection === undefined ? 'table' : 'collection'
    this.name = name
    this.address = `${url}/v1/${keyspace}/${name}`
    this.#keyspace = keyspace
    this.#client = new ApiClient({ url, token, connections, retryForMs, headers })
  }

  /** The definition of the target. Throws if the target does not exist. */
  async open(): Promise<TargetDefinition> {
    const { found, names } = await this.#look()
    if (found === undefined) throw new CommandFailure(this.#missing(names))
    return found
  }

  /** The definition of the target; undefined if the target does not exist. */
  async find(): Promise<TargetDefinition | undefined> {
    return (await this.#look()).found
  }

  /** Creates the collection, and returns its definition. */
  async create(options: JsonObject): Promise<TargetDefinition> {
    const fields = new Map<string, Value>([['name', this.name]])
    if (options.size > 0) fields.set('options', options)
    await this.askKeyspace(printJson(new Map([['createCollection', fields]])))
    return this.open()
  }

  /** Sends a command that needs no keyspace. Errors are in the answer. */
  askServer(command: string): Promise<ApiAnswer> {
    return this.#client.send('', command)
  }

  /** Sends a command to the keyspace. Throws if the reply has errors. */
  async askKeyspace(command: string): Promise<ApiAnswer> {
    return this.#check(await this.#client.send(this.#path(), command))
  }

  async #look(): Promise<{
    readonly found: TargetDefinition | undefined
    readonly names: readonly string[]
  }> {
    const [command, member] =
      this.kind === 'collection'
        ? ['findCollections', 'collections']
        : ['listTables', 'tables']
    const answer = await this.askKeyspace(`{"${command}":{"options":{"explain":true}}}`)
    const listed = memberAt(answer.body, 'status', member) ?? []
    const known = Array.isArray(listed) ? listed : []
    const found = known.find((entry) => nameOf(entry) === this.name)
    const definition =
      found === undefined
        ? undefined
        : { columns: columnTypes(found), options: searchableOptions(found) }
    return { found: definition, names: known.map(nameOf) }
  }

  /** Sends a command to the collection or table. */
  send(command: string): Promise<ApiAnswer> {
    return this.#client.send(`${this.#path()}/${encodeURIComponent(this.name)}`, command)
  }

  close(): void {
    this.#client.close()
  }

  #path(): string {
    return `/${encodeURIComponent(this.#keyspace)}`
  }

  #check(answer: ApiAnswer): ApiAnswer {
    const error = answer.errors[0]
    if (error !== undefined) throw new CommandFailure(`${error.code}: ${error.message}`)
    return answer
  }

  #missing(known: readonly string[]): string {
    const hint =
      this.kind === 'collection'
        ? 'Create it first; `stela import --create` creates one.'
        : 'Create it first, with its columns.'
    const others =
      known.length === 0
        ? `It has no ${this.kind}s.`
        : `Its ${this.kind}s: ${known.join(', ')}.`
    return `the keyspace ${this.#keyspace} has no ${this.kind} ${this.name}. ${others} ${hint}`
  }
}

function nameOf(entry: Value): string {
  const name = isObject(entry) ? entry.get('name') : entry
  return typeof name === 'string' ? name : ''
}

function columnTypes(entry: Value): ReadonlyMap<string, string> {
  const columns = memberAt(entry, 'definition', 'columns')
  const described: JsonObject = isObject(columns) ? columns : new Map<string, Value>()
  return new Map(
    [...described].map(([name, type]) => {
      const called = memberAt(type, 'type')
      return [name, typeof called === 'string' ? called : 'text']
    }),
  )
}

function searchableOptions(entry: Value): SearchableOptions {
  const service = memberAt(entry, 'options', 'vector', 'service')
  const enabled = memberAt(entry, 'options', 'lexical', 'enabled')
  const paths = (list: string) => {
    const listed = memberAt(entry, 'options', 'indexing', list)
    return Array.isArray(listed) ? listed.filter((path) => typeof path === 'string') : []
  }
  return {
    vector: { service },
    lexical: { enabled: enabled === true },
    indexing: { allow: paths('allow'), deny: paths('deny') },
  }
}
