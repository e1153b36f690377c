/** Sends the requests of the story to a server of any version, and reads what it answers. */
import { databases, type Request } from './story.ts'

/** What there is besides keyspaces: made over the management API. */
export interface Access {
  /** By the names that the story has for them. */
  readonly databaseIds: Readonly<Record<string, string>>
  readonly tokens: {
    readonly reader: string
    /** May read the collection `bare` and nothing else. */
    readonly narrow: string
    readonly revoked: string
  }
}

/** An answer in which all versions agree: of errors the codes, of pages what is on them. */
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

  /** Sends what is to be done, and throws where that is refused. */
  async write(requests: readonly Request[]): Promise<void> {
    for (const request of requests) {
      const { errors } = await this.#send(request)
      if (errors !== undefined)
        throw new Error(`${shown(request)}: ${JSON.stringify(errors)}`)
    }
  }

  /** Asks and gets everything, page by page. */
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

  /** Makes databases, roles and tokens, and says what they are called. */
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
 * JSON whose numbers are texts where JavaScript would change them: those with too many
 * digits, and negative zero. A whole number may be written with a point or without.
 */
function exactly(text: string): unknown {
  const reviver = (_name: string, value: unknown, { source }: { source: string }) => {
    if (typeof value !== 'number') return value
    const plain = source.replace(/\.0$/, '')
    if (Object.is(value, -0)) return '-0'
    return plain.replace(/\D/g, '').length > 15 && String(value) !== plain ? plain : value
  }
  // The types of the library do not know of the third argument yet.
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

/** What versions say besides the answer, each in words of its own. */
const hints = ['warnings', 'sortedRowCount']

function withoutHints(status: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(status).filter(([name]) => !hints.includes(name)),
  )
}
