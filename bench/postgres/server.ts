/** Starts the machine's PostgreSQL in a temporary folder, with durable settings. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProcessTree } from '../process-tree.ts'
import { endProcess } from '../processes.ts'
import { PostgresClient, user } from './client.ts'

/** The oldest major version that is compared. */
const versionMin = 15

/** The programs of an installation. */
export interface Installation {
  readonly postgres: string
  readonly initdb: string
  /** For example "15.14". */
  readonly version: string
}

/** The installation in PATH, otherwise Debian's newest; undefined if both are missing. */
export function findPostgres(
  path = process.env['PATH'] ?? '',
  debian = '/usr/lib/postgresql',
): Installation | undefined {
  const inPath = path.split(delimiter)
  const ofDebian = fs.globSync(`${debian}/*/bin`).toSorted(byVersion)
  for (const folder of [...inPath, ...ofDebian]) {
    const installation = installationIn(folder)
    if (installation !== undefined) return installation
  }
  return undefined
}

/** The reason why there is nothing to compare with. */
export const missingPostgres =
  `PostgreSQL ${versionMin} or later was found neither in PATH nor in ` +
  '/usr/lib/postgresql. On Debian: apt-get install postgresql'

function byVersion(a: string, b: string): number {
  return b.localeCompare(a, 'en', { numeric: true })
}

function installationIn(folder: string): Installation | undefined {
  try {
    // Debian links `postgres` into PATH without `initdb`.
    const postgres = fs.realpathSync(join(folder, 'postgres'))
    const initdb = join(dirname(postgres), 'initdb')
    fs.accessSync(initdb, fs.constants.X_OK)
    const { stdout } = spawnSync(postgres, ['--version'], { encoding: 'utf8' })
    const version = /\(PostgreSQL\) (\S+)/.exec(stdout)?.[1]
    if (version === undefined || parseInt(version) < versionMin) return undefined
    return { postgres, initdb, version }
  } catch {
    return undefined
  }
}

/**
 * Everything that an acknowledged write needs to survive a power loss is on, as by default. The
 * memory and the log size fit a small server, and the costs fit an SSD.
 */
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  // The system reports how much of such a segment is in memory.
  shared_memory_type: 'sysv',
  effective_cache_size: '2GB',
  max_wal_size: '4GB',
  random_page_cost: '1.1',
  max_connections: '200',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_min_messages: 'fatal',
}

export class Postgres {
  readonly port: number
  readonly tree: ProcessTree
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    this.tree = new ProcessTree(child.pid!)
  }

  /** Starts a server. Resolves when it accepts connections. */
  static async start({ postgres }: Installation, cluster: Cluster): Promise<Postgres> {
    const port = await freePort()
    const given = Object.entries({ ...settings, port }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    const child = spawn(postgres, ['-D', cluster.data, ...given], {
      ...cluster.account,
      cwd: cluster.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    child.stderr.on('data', (text: Buffer) => (log += text.toString()))
    const server = new Postgres(child, port)
    while (child.exitCode === null && child.signalCode === null) {
      try {
        const client = await PostgresClient.connect(port, 1)
        client.close()
        return server
      } catch {
        // The server does not accept connections yet.
        await sleep(retryMs)
      }
    }
    throw new Error(`PostgreSQL ended before it was ready: ${log}`)
  }

  /** Stops the server. It writes a checkpoint and closes open connections. */
  stop(): Promise<void> {
    return endProcess(this.#child, 'SIGINT')
  }
}

const retryMs = 2

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

interface Account {
  readonly uid: number
  readonly gid: number
}

/** A folder with the data of a server. */
export class Cluster {
  readonly folder: string
  readonly data: string
  /** The account of the server's processes; undefined: the account of this process. */
  readonly account: Account | undefined

  private constructor(folder: string, account: Account | undefined) {
    this.folder = folder
    this.data = join(folder, 'data')
    this.account = account
  }

  /** Creates an empty cluster in the temporary folder. Text is compared by bytes, as in Stela. */
  static create({ initdb }: Installation): Cluster {
    const account = process.getuid?.() === 0 ? unprivileged() : undefined
    const folder = fs.mkdtempSync(join(tmpdir(), 'stela-bench-postgres-'))
    if (account !== undefined) fs.chownSync(folder, account.uid, account.gid)
    const cluster = new Cluster(folder, account)
    const flags = ['--auth=trust', '--no-locale', '--encoding=UTF8', '--username', user]
    const { status, stderr, error } = spawnSync(initdb, ['-D', cluster.data, ...flags], {
      ...account,
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (status !== 0) {
      cluster.remove()
      throw new Error(`initdb failed: ${error?.message ?? stderr}`)
    }
    return cluster
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}

/** An account without privileges, because PostgreSQL refuses to run as root. */
function unprivileged(): Account {
  const accounts = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find(([first]) => first === name) ?? []
    if (gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody')
}
