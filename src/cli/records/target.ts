/** The collection or table of a running server that a command reads or writes. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { printJson } from '../../json/print.ts'
import { isObject, type JsonObject, type Value } from '../../json/value.ts'
import { wholeNumber } from '../../settings/setting-values.ts'
import { ApiClient, memberAt, type ApiAnswer } from './api-client.ts'
import { CommandFailure } from './failure.ts'

/** Parsed values of the options that `addTargetOptions` adds. */
export interface TargetOptions {
  readonly url: string
  readonly token?: string
  readonly keyspace: string
  readonly collection?: string
  readonly table?: string
  readonly retryFor: number
}

export function addTargetOptions(command: Command): Command {
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
    .addOption(new Option('--collection <name>', 'collection').conflicts('table'))
    .option('--table <name>', 'table, instead of --collection')
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

  /**
   * Checks that the target exists; creates a missing collection if `create` is set. For a table,
   * returns the column types by name.
   */
  async open(create: boolean): Promise<ReadonlyMap<string, string>> {
    const schema = this.kind === 'collection' ? '"findCollections":{}' : explainTables
    const answer = this.#check(await this.#client.send(this.#path(), `{${schema}}`))
    const listed =
      memberAt(answer.body, 'status', this.kind === 'table' ? 'tables' : 'collections') ??
      []
    const known = Array.isArray(listed) ? listed : []
    const found = known.find((entry) => nameOf(entry) === this.name)
    if (found !== undefined) return columnTypes(found)
    if (!create) throw new CommandFailure(this.#missing(known.map(nameOf)))
    const command = new Map([['createCollection', new Map([['name', this.name]])]])
    this.#check(await this.#client.send(this.#path(), printJson(command)))
    return new Map()
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
        ? 'Create it first; `stela import --create` creates one without vectors.'
        : 'Create it first, with its columns.'
    const others =
      known.length === 0
        ? `It has no ${this.kind}s.`
        : `Its ${this.kind}s: ${known.join(', ')}.`
    return `the keyspace ${this.#keyspace} has no ${this.kind} ${this.name}. ${others} ${hint}`
  }
}

const explainTables = '"listTables":{"options":{"explain":true}}'

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
