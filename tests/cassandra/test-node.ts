/**
 * The node that tests share. `testNode` returns the node that STELA_TEST_CASSANDRA names, or the
 * node of `npm test`. Without either, it starts a node for this process.
 */
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectOptions } from './connect.ts'
import { GuardedFolder } from './guard.ts'
import { firstUser, missingTools, startNode, type CassandraNode } from './node.ts'

/** Maximum time in milliseconds until the node is ready, including the first download. */
const waitMsMax = 600_000

const named = 'STELA_TEST_CASSANDRA'
/**
 * Path where `npm test` writes how to connect to its node once it is ready, or why it failed.
 */
const noticeNamed = 'STELA_TEST_CASSANDRA_NOTICE'

/** Content of the notice. */
type Notice = { readonly connect: ConnectOptions } | { readonly failure: string }

export async function testNode(): Promise<ConnectOptions> {
  const address = namedNode()
  if (address !== undefined) return readAddress(address)
  const notice = process.env[noticeNamed]
  if (notice !== undefined) return readNotice(notice)
  return (await (own ??= startNode({ durable: false }))).connect
}

/** The host:port of a running node that tests use instead of starting one. */
export function namedNode(): string | undefined {
  return process.env[named]
}

/** The node of this process. Its guard kills the node when the process ends. */
let own: Promise<CassandraNode> | undefined

function readAddress(address: string): ConnectOptions {
  const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? []
  if (host === undefined) throw new Error(`${named} is ${address}, and not host:port`)
  return { ...firstUser, contactPoints: [host], port: Number(port) }
}

async function readNotice(file: string): Promise<ConnectOptions> {
  const deadline = Date.now() + waitMsMax
  while (!existsSync(file)) {
    if (Date.now() > deadline) throw new Error('no Cassandra was ready in time')
    await sleep(100)
  }
  const notice = JSON.parse(await readFile(file, 'utf8')) as Notice
  if ('failure' in notice) throw new Error(`there is no Cassandra: ${notice.failure}`)
  return notice.connect
}

/** A node that all child processes of this process share. */
export class SharedNode {
  readonly #folder: GuardedFolder
  readonly #started: Promise<CassandraNode | Error>

  private constructor(folder: GuardedFolder) {
    this.#folder = folder
    this.#started = this.#start()
  }

  /**
   * Starts a node and returns before it is ready; tests wait for it. Returns undefined when
   * STELA_TEST_CASSANDRA names a node. Throws a `MissingTool` when no node can be started.
   */
  static async start(): Promise<SharedNode | undefined> {
    if (namedNode() !== undefined) return undefined
    const missing = await missingTools()
    if (missing) throw missing
    const folder = await GuardedFolder.make()
    process.env[noticeNamed] = join(folder.path, 'notice')
    return new SharedNode(folder)
  }

  async #start(): Promise<CassandraNode | Error> {
    try {
      const node = await startNode({ durable: false })
      await this.#post({ connect: node.connect })
      return node
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      await this.#post({ failure: failure.message })
      return failure
    }
  }

  /** Writes the complete notice and renames it, so that readers never see a part of it. */
  async #post(notice: Notice): Promise<void> {
    const unfinished = join(this.#folder.path, 'unfinished')
    await writeFile(unfinished, JSON.stringify(notice))
    await rename(unfinished, join(this.#folder.path, 'notice'))
  }

  /** Removes the node. Returns an error message if the node did not start or died. */
  async remove(): Promise<string | undefined> {
    const node = await this.#started
    if (node instanceof Error) return node.message
    const died = node.isRunning ? undefined : `Cassandra died:\n${await node.logTail()}`
    await node.remove()
    await this.#folder.remove()
    return died
  }
}
