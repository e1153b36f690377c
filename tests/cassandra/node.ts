/** A real Cassandra node on a loopback address, in a process and a folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLogin, type ConnectOptions } from './connect.ts'
import { GuardedFolder } from './guard.ts'
import { bringJars, cacheFolder, hasJars } from './jars.ts'
import { makeOnce } from './make-once.ts'
import { javaArguments, smallHeap, writeConfig, type Ring } from './node-config.ts'
import { findPort } from './ports.ts'
import { findJava, findMaven, MissingTool, type Java, type Tool } from './tools.ts'

/** Maximum duration of a start in milliseconds; longer than a start takes on any machine. */
const startMsMax = 300_000

/** Programs and files that all nodes need. */
export interface Installation {
  readonly java: Java
  readonly jars: readonly string[]
  /** Names the class archive that Java uses or creates. */
  readonly archiveFlag: string
}

/** Names all missing tools that a node needs; undefined if the machine has them. */
export async function missingTools(): Promise<MissingTool | undefined> {
  const searches = [findJava(), ...(hasJars() ? [] : [findMaven()])]
  const missing: Tool[] = []
  for (const search of await Promise.allSettled(searches))
    if (search.status === 'rejected') {
      if (!(search.reason instanceof MissingTool)) throw search.reason
      missing.push(...search.reason.tools)
    }
  return missing.length === 0 ? undefined : new MissingTool(...missing)
}

/** Installs the needed files; only the first call takes minutes. */
export async function install(): Promise<Installation> {
  const java = await findJava()
  const jars = await bringJars()
  const archive = join(cacheFolder, `classes-${java.build}.jsa`)
  await makeOnce(archive, (file) =>
    archiveClasses({ java, jars, archiveFlag: `-XX:ArchiveClassesAtExit=${file}` }),
  )
  return { java, jars, archiveFlag: `-XX:SharedArchiveFile=${archive}` }
}

/**
 * Creates the class archive, which saves seconds of each start. Java writes the archive when it
 * ends.
 */
async function archiveClasses(installation: Installation): Promise<void> {
  const ring = await ringOf([firstAddress], { durable: false })
  const node = await CassandraNode.create(installation, ring, firstAddress)
  try {
    await node.start()
    await node.stop()
  } finally {
    await node.remove()
  }
}

export interface NodeOptions {
  /** A free port by default. */
  readonly port?: number
  /** See `Ring`. */
  readonly durable: boolean
  /** See `Ring`; a small heap by default. */
  readonly heapMegabytes?: number
}

const firstAddress = '127.0.0.1'

/** Starts a single node and waits until it is ready. */
export async function startNode(options: NodeOptions): Promise<CassandraNode> {
  const ring = await ringOf([firstAddress], options)
  const node = await CassandraNode.create(await install(), ring, firstAddress)
  try {
    await node.start()
    return node
  } catch (error) {
    await node.remove()
    throw error
  }
}

export async function ringOf(
  addresses: readonly string[],
  { port, durable, heapMegabytes = smallHeap }: NodeOptions,
): Promise<Ring> {
  const storagePort = await findPort(addresses)
  return {
    addresses,
    port: port ?? (await findPort(addresses)),
    storagePort,
    durable,
    heapMegabytes,
  }
}

/** Default superuser and data center of a new cluster. */
export const firstUser = {
  localDatacenter: 'datacenter1',
  user: 'cassandra',
  password: 'cassandra',
}

export class CassandraNode {
  readonly connect: ConnectOptions
  readonly #installation: Installation
  readonly #ring: Ring
  readonly #folder: GuardedFolder
  #child: ChildProcess | undefined
  #exit: Promise<unknown> = Promise.resolve()

  private constructor(
    installation: Installation,
    ring: Ring,
    address: string,
    folder: GuardedFolder,
  ) {
    this.#installation = installation
    this.#ring = ring
    this.#folder = folder
    this.connect = {
      ...firstUser,
      contactPoints: [address],
      port: ring.port,
    }
  }

  static async create(
    installation: Installation,
    ring: Ring,
    address: string,
  ): Promise<CassandraNode> {
    const folder = await GuardedFolder.make()
    await writeConfig(folder.path, address, ring)
    return new CassandraNode(installation, ring, address, folder)
  }

  /** Folder with the data and the log of the node. */
  get folder(): string {
    return this.#folder.path
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  /**
   * Starts the node, with its existing data if it ran before; resolves once the first user can log
   * in. Throws with the end of the log if the process ends first.
   */
  async start(): Promise<void> {
    await this.#launch()
    const deadline = Date.now() + startMsMax
    while (this.isRunning && Date.now() < deadline) {
      if (await tryLogin(this.connect)) return
      await sleep(100)
    }
    const what = this.isRunning ? 'was not ready in time' : 'died'
    throw new Error(`Cassandra ${what}. Its log ends with:\n${await this.logTail()}`)
  }

  async #launch(): Promise<void> {
    const { java, jars, archiveFlag } = this.#installation
    const log = await open(this.#logFile, 'a')
    const child = spawn(
      java.program,
      javaArguments(this.folder, this.#ring, jars, archiveFlag),
      // The node gets its own process group, so Ctrl-C does not reach it: this process or the guard
      // ends the node.
      { stdio: ['ignore', log.fd, log.fd], detached: true },
    )
    this.#folder.watch(child.pid)
    child.unref()
    this.#child = child
    this.#exit = once(child, 'exit').then(() => {
      this.#folder.watch(undefined)
      this.#child = undefined
    })
    await log.close()
  }

  async logTail(): Promise<string> {
    const lines = (await readFile(this.#logFile, 'utf8')).trimEnd().split('\n')
    return lines.slice(-30).join('\n')
  }

  /** Resolves when the process has ended; keeps the test process alive until then. */
  async ended(): Promise<void> {
    this.#child?.ref()
    await this.#exit
  }

  /** Asks the process to shut down. */
  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.ended()
  }

  /** Kills the process, like a crash. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.ended()
  }

  /** Kills the process and removes its data. */
  async remove(): Promise<void> {
    await this.kill()
    await this.#folder.remove()
  }

  get #logFile(): string {
    return join(this.folder, 'log')
  }
}
