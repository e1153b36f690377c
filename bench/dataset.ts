/** Prepares a data folder by loading it through the API. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { Client, requestBytes } from './client.ts'
import { Picks } from './documents.ts'
import type { Tally } from './drive.ts'
import { Stela, token, type StelaOptions } from './processes.ts'
import { insertManyBody } from './workloads/insert-many.ts'

export const collectionPath = '/v1/default_keyspace/documents'

/** Maximum documents per insertMany. */
export const batchSize = 100
/**
 * Number of connections that load documents: enough to keep the server busy, and few enough to
 * leave a core to it.
 */
export const loadConnections = 4

export interface Dataset {
  readonly folder: string
  /** Milliseconds of the load; undefined if an earlier run loaded the folder. */
  readonly loadMs: number | undefined
  /** Milliseconds from the last reply until the indexes were complete. */
  readonly settleMs: number | undefined
}

/**
 * Loads `size` documents into a folder of `parent`, or reuses the folder of an earlier run.
 */
export function prepareDataset(
  parent: string,
  size: number,
  seed: number,
  progress: (line: string) => void,
  options?: StelaOptions,
): Promise<Dataset> {
  const fill = (port: number) => load(port, size, seed, progress)
  return prepareFolder(parent, `documents-${size}-seed-${seed}`, fill, options)
}

/** Fills a folder in `parent` through a server, or reuses the folder of an earlier run. */
export async function prepareFolder(
  parent: string,
  name: string,
  fill: (port: number) => Promise<void>,
  options?: StelaOptions,
): Promise<Dataset> {
  const folder = join(parent, name)
  if (fs.existsSync(folder)) return { folder, loadMs: undefined, settleMs: undefined }
  const unfinished = `${folder}.unfinished`
  fs.rmSync(unfinished, { recursive: true, force: true })
  const server = await Stela.start(unfinished, options)
  try {
    const startedAt = performance.now()
    await fill(server.port)
    const loadMs = performance.now() - startedAt
    const settleMs = await server.settle()
    await server.stop()
    fs.renameSync(unfinished, folder)
    return { folder, loadMs, settleMs }
  } finally {
    await server.stop()
  }
}

async function load(
  port: number,
  size: number,
  seed: number,
  progress: (line: string) => void,
): Promise<void> {
  await createCollection(port, 'documents')
  const picks = new Picks(seed, 0)
  await insertAll(port, collectionPath, size, progress, (count) =>
    insertManyBody(picks, count),
  )
}

/** Creates a collection. `options` is JSON text. */
export async function createCollection(
  port: number,
  name: string,
  options = '{}',
): Promise<void> {
  const client = await Client.connect(port, 1)
  try {
    const body = `{"createCollection":{"name":"${name}","options":${options}}}`
    const reply = await client.ask(requestBytes('/v1/default_keyspace', token, body))
    if (reply !== '{"status":{"ok":1}}') throw new Error(reply)
  } finally {
    client.close()
  }
}

/** Inserts `size` documents. `bodyOf` creates the body of the next insertMany. */
export async function insertAll(
  port: number,
  path: string,
  size: number,
  progress: (line: string) => void,
  bodyOf: (count: number) => string,
): Promise<Tally> {
  const client = await Client.connect(port, loadConnections)
  try {
    let asked = 0
    let said = 0
    const next = () => {
      if (asked >= size) return undefined
      const count = Math.min(batchSize, size - asked)
      asked += count
      if (asked - said >= 50_000)
        progress(`loading: ${(said = asked)} of ${size} documents`)
      return requestBytes(path, token, bodyOf(count))
    }
    return await client.drive({ next, forMs: Infinity })
  } finally {
    client.close()
  }
}

/**
 * Copies a folder and syncs the copy. Otherwise a later sync of the server would wait for the copy.
 */
export function copyFolder(from: string, to: string): void {
  fs.cpSync(from, to, { recursive: true })
  for (const file of filesIn(to)) {
    const handle = fs.openSync(file, 'r+')
    fs.fsyncSync(handle)
    fs.closeSync(handle)
  }
}

/** Size of a folder in bytes. */
export function sizeOnDisk(folder: string): number {
  return filesIn(folder).reduce((sum, file) => sum + fs.statSync(file).size, 0)
}

/** Path of the store in a folder with only one collection. */
export function storeIn(folder: string): string {
  return filesIn(folder).find((file) => file.endsWith('store.db'))!
}

function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
