/** A server for a model of tables, and a log of the commands sent to it. */
import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import {
  startServer,
  temporaryFolder,
  type CommandAnswer,
  type TestServer,
} from '../harness.ts'
import type { Random } from './random.ts'
import type { RandomFilters } from './tables-filters.ts'
import type { TableOracle } from './tables-oracle.ts'
import type { Vocabulary } from './tables-schema.ts'
import { jsonText, type Json, type UserType } from './tables-values.ts'

/** A server that answers commands and can restart. */
export interface Service {
  send(path: string, body: string): Promise<CommandAnswer>
  restart(): Promise<void>
}

/**
 * A server that uses the same data folder after a restart. The folder must be intact after each
 * stop.
 */
export class FolderService implements Service {
  #dataDir = ''
  #server: TestServer | undefined

  async start(): Promise<void> {
    this.#dataDir ||= await temporaryFolder()
    this.#server = await startServer({ dataDir: this.#dataDir, durable: false })
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
    assert.deepEqual(checkDataFolder(this.#dataDir), [])
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async remove(): Promise<void> {
    await this.#server?.stop()
    await rm(this.#dataDir, { recursive: true, force: true })
  }

  send(path: string, body: string): Promise<CommandAnswer> {
    return this.#server!.command(path, body)
  }
}

/** Sends the commands on one table, and keeps a log of them. */
export class Session {
  commands = 0
  readonly name: string
  readonly #service: Service
  readonly #log: string[] = []

  constructor(service: Service, name: string) {
    this.#service = service
    this.name = name
  }

  /**
   * Sends a command to a target of the keyspace, or to the keyspace itself if `target` is empty.
   */
  async send(target: string, command: Json): Promise<CommandAnswer> {
    this.commands++
    const path = target === '' ? '/default_keyspace' : `/default_keyspace/${target}`
    const body = jsonText(command)
    const place = this.#log.push(`${path} ${body}`)
    const answer = await this.#service.send(path, body)
    this.#log[place - 1] = `${path} ${body}\n    ${answer.text}`
    return answer
  }

  async ok(target: string, command: Json): Promise<void> {
    const answer = await this.send(target, command)
    assert.equal(answer.text, '{"status":{"ok":1}}')
  }

  async restart(): Promise<void> {
    this.#log.push('# the server stops and starts again')
    await this.#service.restart()
  }

  /**
   * A message for a failure, with the last commands. Writes the whole log of commands to a file.
   */
  async explain(seed: number): Promise<string> {
    const file = join(tmpdir(), `stela-table-${seed}.log`)
    await writeFile(file, this.#log.join('\n') + '\n')
    const last = this.#log.slice(-8).map((line) => line.slice(0, 2000))
    return `SEED=${seed}, all commands in ${file}, the last of them:\n${last.join('\n')}`
  }
}

/** The objects that all parts of a model share. */
export interface World {
  readonly session: Session
  readonly random: Random
  readonly table: TableOracle
  readonly types: readonly UserType[]
  readonly filters: RandomFilters
  readonly vocabulary: Vocabulary
  /** Number of different values of each type. */
  readonly spread: number
}
