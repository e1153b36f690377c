/**
 * Sends the requests of story.ts to a server of any version, and normalizes its replies.
 */
import { databases, type Request } from './story.ts'

/** Databases, roles and tokens that were created over the management API. */
export interface Access {
  /** The ids of databases and tokens, by the names that story.ts gives them. */
  readonly databaseIds: Readonly<Record<string, string>>
  readonly tokens: {
    readonly reader: string
    /** A token that may only read the collection `bare`. */
    readonly narrow: string
    readonly revoked: string
  }
}

/**
 * The members of a reply that are equal in all versions: error codes, the status without hints, and
 * the records of all pages.
 */
export interface Told {
  readonly data?: unknown
  readonly status?: unknown
  readonly codes?: readonly string[]
}

interface Envelope {
  readonly data?: {
    readonly documents?: readonly unknown[]
    readonly document?: unknown
    readonly nextPageState?: string | null
  }
  readonly status?: Readonly<Record<string, unknown>>
  readonly errors?: readonly { readonly errorCode: string }[]
}

export class StoryClient {
  readonly #url: string
  readonly #adminUrl: string
  readonly #token: string
  #databaseIds: Readonly<Record<string, string>>

  constructor(
    { url, adminUrl }: { readonly url: string; readonly adminUrl: string },
    token: string,
    databaseIds: Readonly<Record<string, string>> = {},
  ) {
    this.#url = url
    this.#adminUrl = adminUrl
    this.#token = token
    this.#databaseIds = databaseIds
  }

  /** Sends requests that change data. Throws if one of them fails. */
  async write(requests: readonly Request[]): Promise<void> {
    for (const request of requests) {
      const { errors } = await this.#send(request)
      if (errors !== undefined)
        throw new Error(`${shown(request)}: ${JSON.stringify(errors)}`)
    }
  }

  /** Sends a request and reads all pages of its reply. */
  async ask([path, command]: Request, token = this.#token): Promise<Told> {
    let answer = await this.#send([path, command], token)
    const first = answer
    const documents = [...(answer.data?.documents ?? [])]
    for (let state = stateOf(answer); state !== undefined; state = stateOf(answer)) {
      answer = await this.#send([path, withState(command, state)], token)
      documents.push(...(answer.data?.documents ?? []))
    }
    const { data, status, errors } = first
    return {
      ...(data !== undefined && { data: data.documents ? documents : data.document }),
      ...(status !== undefined && { status: withoutHints(status) }),
      ...(errors && { codes: errors.map(({ errorCode }) => errorCode) }),
    }
  }

  /** Creates databases, roles and tokens, and returns their ids. */
  async createAccess(): Promise<Access> {
    const databaseIds: Record<string, string> = {}
    for (const name of databases) {
      const made = await this.manage('POST', '/databases', { name, dbType: 'vector' })
      databaseIds[name] = (made as { id: string }).id
    }
    this.#databaseIds = databaseIds
    const { id: organization } = (await this.manage('GET', '/currentOrg')) as { id: string }
    const roles = (await this.manage('GET', '/organizations/roles')) as Role[]
    const policy = {
      description: 'reads one collection',
      effect: 'allow',
      resources: [
        `drn:astra:org:${organization}:db:*:keyspace:default_keyspace:table:bare`,
      ],
      actions: ['db-cql', 'db-table-select'],
    }
    const narrow = await this.manage('POST', '/organizations/roles', {
      name: 'narrow',
      policy,
    })
    const reader = roles.find(({ Name }) => Name === 'RO User')!
    const revoked = await this.#createToken(reader)
    await this.manage('DELETE', `/clientIdSecrets/${revoked.clientId}`)
    return {
      databaseIds,
      tokens: {
        reader: (await this.#createToken(reader)).token,
        narrow: (await this.#createToken(narrow as Role)).token,
        revoked: revoked.token,
      },
    }
  }

  async #createToken({ ID }: Role): Promise<{ token: string; clientId: string }> {
    const made = await this.manage('POST', '/clientIdSecrets', { roles: [ID] })
    return made as { token: string; clientId: string }
  }

  /** Calls the management API. */
  async manage(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#adminUrl}/v2${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'Content-Type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }

  async #send([path, command]: Request, token = this.#token): Promise<Envelope> {
    const [, name, inside] = /^(?:(\w+):)?(.*)$/.exec(path)!
    const front = name === undefined ? '' : `/databases/${this.#databaseIds[name]!}`
    const response = await fetch(`${this.#url}${front}/v1${inside!}`, {
      method: 'POST',
      headers: { Token: token, 'Content-Type': 'application/json' },
      body: textOf(command),
    })
    return exactly(await response.text()) as Envelope
  }
}

interface Role {
  readonly ID: string
  readonly Name: string
}

export function shown([path, command]: Request): string {
  return `${path} ${textOf(command)}`
}

function textOf(command: Request[1]): string {
  return typeof command === 'string' ? command : JSON.stringify(command)
}

/**
 * Parses JSON. Numbers that JavaScript would change, because they have too many digits or are
 * negative zero, become texts. 1.0 and 1 give the same result.
 */
function exactly(text: string): unknown {
  const reviver = (_name: string, value: unknown, { source }: { source: string }) => {
    if (typeof value !== 'number') return value
    const plain = source.replace(/\.0$/, '')
    if (Object.is(value, -0)) return '-0'
    return plain.replace(/\D/g, '').length > 15 && String(value) !== plain ? plain : value
  }
  // The type declaration of JSON.parse lacks the third argument of the reviver.
  return JSON.parse(
    text,
    reviver as (this: unknown, key: string, value: unknown) => unknown,
  )
}

function stateOf({ data }: Envelope): string | undefined {
  return data?.nextPageState ?? undefined
}

function withState(command: Request[1], state: string): string {
  const text = textOf(command)
  const options = `"pageState":${JSON.stringify(state)}`
  return text.includes('"options":{')
    ? text.replace('"options":{', `"options":{${options},`)
    : text.replace(/\}\}$/, `,"options":{${options}}}}`)
}

/** Members of a status that the tests ignore, because versions differ in them. */
const hints = ['warnings', 'sortedRowCount']

function withoutHints(status: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(status).filter(([name]) => !hints.includes(name)),
  )
}
