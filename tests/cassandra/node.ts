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

/** Longer than any machine takes. */
const startMsMax = 300_000

/** What all nodes need. */
export interface Installation {
  readonly java: Java
  readonly jars: readonly string[]
  /** Which archive of classes Java is to use, or to make. */
  readonly archiveFlag: string
}

/** Names all tools that a node needs and this machine lacks; undefined if it has them. */
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

/** Brings what nodes need; only the first time takes minutes. */
export async function install(): Promise<Installation> {
  const java = await findJava()
  const jars = await bringJars()
  const archive = join(cacheFolder, `classes-${java.build}.jsa`)
  await makeOnce(archive, (file) =>
    archiveClasses({ java, jars, archiveFlag: `-XX:ArchiveClassesAtExit=${file}` }),
  )
  return { java, jars, archiveFlag: `-XX:SharedArchiveFile=${archive}` }
}

/** Java writes the classes of a run to a file at its end. Starts from that save seconds. */
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
  /** A free one unless named. */
  readonly port?: number
  /** See `Ring`. */
  readonly durable: boolean
  /** See `Ring`; a small one unless named. */
  readonly heapMegabytes?: number
}

const firstAddress = '127.0.0.1'

/** A node by itself, which is ready. */
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

/** What every new cluster has. */
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

  /** Where its data are, and its log. */
  get folder(): string {
    return this.#folder.path
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  /**
   * Starts it, on the data that it left if it ran before; resolves once the first user can log
   * in. Throws, with the end of the log, when the process ends instead.
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
      // In a process group of its own: after Ctrl-C, it is us or the guard who end it.
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

  /** Resolves when the process has ended; until then, ours does not. */
  async ended(): Promise<void> {
    this.#child?.ref()
    await this.#exit
  }

  /** Asks it to end in good order. */
  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.ended()
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.ended()
  }

  /** Ends it for good, and removes its data. */
  async remove(): Promise<void> {
    await this.kill()
    await this.#folder.remove()
  }

  get #logFile(): string {
    return join(this.folder, 'log')
  }
}
