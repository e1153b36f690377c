/** The server under attack, in a separate process, and its resource usage. */
import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import { request as plainRequest, type IncomingMessage } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { defaultRoleId } from '../../src/auth/roles.ts'
import { clientOf, type ConnectOptions } from '../cassandra/connect.ts'
import { findPort } from '../cassandra/ports.ts'
import { ServerProcess, processToken } from '../faults/server-process.ts'
import { temporaryFolder, type Envelope } from '../harness.ts'
import { makeCertificate, saveCertificate } from '../http/made-certificate.ts'
import { takeTurns, turnEnvironment } from './read-turns.ts'
import { requestOf } from './requests.ts'
import type { Turns } from './turn-meter.ts'

/** The attacker has a separate account. All other requests use the administrator's account. */
const hostileAccount = ['hostile', 'of no good'] as const
export const hostileToken = accountToken(...hostileAccount)
export const unknownToken = 'Stela:nobody:knows-this-token'
export const goodToken = processToken

function accountToken(user: string, password: string): string {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return `Cassandra:${encode(user)}:${encode(password)}`
}

export interface ServerOptions {
  readonly flags?: readonly string[]
  /** Whether the server uses HTTPS, with which clients can also use HTTP/2. */
  readonly tls?: boolean
  /** If set, the data is on this Cassandra node. */
  readonly cluster?: ConnectOptions
}

function clusterFlags(cluster: ConnectOptions): string[] {
  const { contactPoints, port, localDatacenter, user, password } = cluster
  return [
    ...['--contact-points', contactPoints.join(), '--cassandra-port', String(port)],
    ...['--local-datacenter', localDatacenter, '--replication', `${localDatacenter}=1`],
    ...['--cassandra-user', user, '--cassandra-password', password],
  ]
}

/** Creates the account of the hostile client in the cluster. */
async function createAccount(cluster: ConnectOptions): Promise<void> {
  const client = clientOf(cluster)
  try {
    const [name, password] = hostileAccount
    await client.execute(
      `CREATE ROLE IF NOT EXISTS ${name} WITH PASSWORD = '${password}' ` +
        'AND LOGIN = true AND SUPERUSER = true',
    )
  } finally {
    await client.shutdown()
  }
}

export class HostileServer {
  readonly #folder: string
  readonly #process: ServerProcess
  readonly #adminPort: number
  readonly ca: string | undefined

  private constructor(
    folder: string,
    process: ServerProcess,
    adminPort: number,
    ca: string | undefined,
  ) {
    this.#folder = folder
    this.#process = process
    this.#adminPort = adminPort
    this.ca = ca
  }

  static async start({ flags = [], tls = false, cluster }: ServerOptions = {}) {
    const folder = await temporaryFolder()
    const adminPort = await findPort(['127.0.0.1'])
    const made = tls ? makeCertificate() : undefined
    const files = made && (await saveCertificate(folder, made))
    const process = new ServerProcess(
      cluster === undefined ? `${folder}/data` : undefined,
      [
        ...['--log-level', 'error', '--admin-port', String(adminPort), ...flags],
        ...(cluster === undefined
          ? ['--users', hostileAccount.join(':')]
          : ['--engine', 'cassandra', ...clusterFlags(cluster)]),
        ...(files ? ['--tls-cert', files.certFile, '--tls-key', files.keyFile] : []),
      ],
      turnEnvironment(`${folder}/turns`),
    )
    if (cluster !== undefined) await createAccount(cluster)
    await process.ready()
    const server = new HostileServer(folder, process, adminPort, made?.cert)
    if (cluster !== undefined) await server.#dropWhatIsLeft()
    return server
  }

  /** Drops the data of an earlier server from the cluster. */
  async #dropWhatIsLeft(): Promise<void> {
    const name = 'default_keyspace'
    await this.command('', { dropKeyspace: { name } })
    await this.command('', { createKeyspace: { name } })
  }

  get url(): string {
    return this.#process.url
  }

  get pid(): number {
    return this.#process.child.pid!
  }

  get isAlive(): boolean {
    const { exitCode, signalCode } = this.#process.child
    return exitCode === null && signalCode === null
  }

  /** Output of the server on standard error; empty unless there are problems. */
  get complaints(): string {
    return this.#process.err
  }

  /** Opens a raw socket, on which an attack controls every byte. */
  async connect(localAddress?: string): Promise<Socket> {
    const { hostname, port } = new URL(this.url)
    const to = {
      host: hostname,
      port: Number(port),
      noDelay: true,
      ...(localAddress !== undefined && { localAddress }),
    }
    const socket =
      this.ca === undefined ? connectPlain(to) : connectTls({ ...to, ca: this.ca })
    await once(socket, this.ca === undefined ? 'connect' : 'secureConnect')
    // Some attacks expect the server to close their connection, so errors are ignored.
    socket.on('error', () => undefined)
    return socket
  }

  /** Creates a token with a role. */
  async createToken(role: string): Promise<string> {
    const send = this.ca === undefined ? plainRequest : tlsRequest
    const request = send(
      `${new URL(this.url).protocol}//127.0.0.1:${this.#adminPort}/v2/clientIdSecrets`,
      {
        method: 'POST',
        headers: { Token: goodToken, 'Content-Type': 'application/json' },
        ...(this.ca !== undefined && { ca: this.ca }),
      },
    )
    request.end(JSON.stringify({ roles: [defaultRoleId(role)] }))
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { token } = JSON.parse(text) as { token?: string }
    if (token === undefined) throw new Error(text)
    return token
  }

  /** Sends a command that must succeed, as preparation. */
  async command(path: string, command: object): Promise<Envelope> {
    const { text } = await this.ask(goodToken, path, Buffer.from(JSON.stringify(command)))
    const envelope = JSON.parse(text) as Envelope
    if (envelope.errors !== undefined)
      throw new Error(`${JSON.stringify(command).slice(0, 500)} => ${text.slice(0, 2_000)}`)
    return envelope
  }

  /** Sends one request on a separate connection. */
  async ask(
    token: string,
    path: string,
    body: Buffer,
    headers: readonly string[] = [],
  ): Promise<{ status: number; text: string }> {
    const socket = await this.connect()
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    const ended = once(socket, 'close')
    socket.write(requestOf(token, path, body, ['Connection: close', ...headers]))
    await ended
    const answer = Buffer.concat(chunks).toString()
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
    return { status, text: answer.slice(answer.indexOf('\r\n\r\n') + 4) }
  }

  /**
   * Processor time of the turns of the server's event loop since the last call. If `collectGarbage`
   * is set, the server then collects the garbage of its main thread.
   */
  takeTurns(collectGarbage = false): Promise<Turns> {
    return takeTurns(this.#process.child.pid!, `${this.#folder}/turns`, collectGarbage)
  }

  /** Resets the peak memory that `usage` returns. */
  forgetPeak(): void {
    writeFileSync(`/proc/${this.#process.child.pid!}/clear_refs`, '5')
  }

  /** Resource usage of the server; undefined: the process is gone. */
  usage(): Usage | undefined {
    if (!this.isAlive) return undefined
    const pid = this.#process.child.pid!
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024
      const memory = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return { memory, peak, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 }
    } catch {
      return undefined
    }
  }

  async stop(): Promise<void> {
    await this.#process.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Resource usage. Sizes are in bytes. */
export interface Usage {
  readonly memory: number
  readonly peak: number
  readonly cpuSeconds: number
}
