/** Clients of MCP: the official client, and functions that send raw messages. */
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type Transport,
} from '@modelcontextprotocol/client'
import { testToken, type TestServer, type WireError } from '../harness.ts'

/** The newest revision of MCP, and the previous one, which starts with a handshake. */
export const revisions = ['2026-07-28', '2025-11-25'] as const
export type Revision = (typeof revisions)[number]

export interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown> & {
    readonly errors?: readonly WireError[]
    readonly documents?: readonly Record<string, unknown>[]
  }
  readonly isError?: boolean
  readonly _meta?: { readonly status?: Record<string, unknown> }
}

export class Assistant {
  readonly client: Client

  constructor(client: Client) {
    this.client = client
  }

  static async over(transport: Transport, revision: Revision): Promise<Assistant> {
    const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy'
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode } },
    )
    await client.connect(transport)
    return new Assistant(client)
  }

  /** Connects over HTTP, with additional headers. */
  static async of(
    server: TestServer,
    revision: Revision,
    headers: Readonly<Record<string, string>> = { Token: testToken },
  ): Promise<Assistant> {
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/v1/mcp`), {
      requestInit: { headers },
    })
    return Assistant.over(transport, revision)
  }

  async call(name: string, given: object = {}): Promise<ToolAnswer> {
    const answer: CallToolResult = await this.client.callTool({
      name,
      arguments: { ...given },
    })
    return answer as unknown as ToolAnswer
  }

  /** Calls a tool. Returns the error codes of its result. */
  async codes(name: string, given: object = {}): Promise<readonly string[]> {
    const { structuredContent, isError } = await this.call(name, given)
    const errors = structuredContent?.errors ?? []
    if (isError !== errors.length > 0 && errors.length > 0)
      return ['errors, but no isError']
    return errors.map(({ errorCode }) => errorCode)
  }

  /** Reads a resource and parses it. */
  async read(uri: string): Promise<unknown> {
    const { contents } = await this.client.readResource({ uri })
    return JSON.parse((contents[0] as unknown as { text: string }).text)
  }

  close(): Promise<void> {
    return this.client.close()
  }
}

export interface RpcAnswer {
  readonly http: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly id?: unknown
    readonly result?: Record<string, unknown>
    readonly error?: { readonly code: number; readonly message: string; data?: unknown }
  }
}

/** Sends a body of any content to the MCP endpoint. */
export async function post(
  server: TestServer,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/mcp',
): Promise<RpcAnswer> {
  const answer = await server.send(path, {
    method: 'POST',
    headers: { Token: testToken, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    http: answer.http,
    headers: answer.headers,
    text: answer.text,
    get body() {
      return answer.body as RpcAnswer['body']
    },
  }
}

/** A request of the previous revision. Unlike the newest one, it needs no metadata. */
export function request(method: string, params?: unknown, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }
}

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** The metadata that every request of the newest revision needs. */
export const ownMeta = { [versionKey]: '2026-07-28', [capabilitiesKey]: {} }

export function ownHeaders(method: string, name?: string): Record<string, string> {
  return {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(name !== undefined && { 'Mcp-Name': name }),
  }
}
