/** A folder of data to serve, loaded through the API like anybody else's. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { Client, requestBytes } from './client.ts'
import { Picks } from './documents.ts'
import { Stela, token } from './processes.ts'
import { insertManyBody } from './workloads/insert-many.ts'

export const collectionPath = '/v1/default_keyspace/documents'

const batchSize = 100
/** Enough to keep the server busy, few enough to leave it a core. */
const loadConnections = 4

export interface Dataset {
  readonly folder: string
  /** Undefined when the folder was loaded by an earlier run. */
  readonly loadMs: number | undefined
}

/** Loads `size` documents into a folder of `parent`, unless an earlier run has. */
export async function prepareDataset(
  parent: string,
  size: number,
  seed: number,
  progress: (line: string) => void,
): Promise<Dataset> {
  const folder = join(parent, `documents-${size}-seed-${seed}`)
  if (fs.existsSync(folder)) return { folder, loadMs: undefined }
  const unfinished = `${folder}.unfinished`
  fs.rmSync(unfinished, { recursive: true, force: true })
  const server = await Stela.start(unfinished)
  try {
    const startedAt = performance.now()
    await load(server.port, size, seed, progress)
    const loadMs = performance.now() - startedAt
    await server.stop()
    fs.renameSync(unfinished, folder)
    return { folder, loadMs }
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
  const client = await Client.connect(port, loadConnections)
  try {
    const created = await client.ask(
      requestBytes(
        '/v1/default_keyspace',
        token,
        '{"createCollection":{"name":"documents"}}',
      ),
    )
    if (created !== '{"status":{"ok":1}}') throw new Error(created)
    const picks = new Picks(seed, 0)
    let asked = 0
    let said = 0
    const next = () => {
      if (asked >= size) return undefined
      const count = Math.min(batchSize, size - asked)
      asked += count
      if (asked - said >= 50_000)
        progress(`loading: ${(said = asked)} of ${size} documents`)
      return requestBytes(collectionPath, token, insertManyBody(picks, count))
    }
    await client.drive({ next, forMs: Infinity })
  } finally {
    client.close()
  }
}

/** Copies a folder; the copy is on disk, so that no later sync has to wait for it. */
export function copyFolder(from: string, to: string): void {
  fs.cpSync(from, to, { recursive: true })
  for (const file of filesIn(to)) {
    const handle = fs.openSync(file, 'r+')
    fs.fsyncSync(handle)
    fs.closeSync(handle)
  }
}

/** The bytes that a folder takes. */
export function sizeOnDisk(folder: string): number {
  return filesIn(folder).reduce((sum, file) => sum + fs.statSync(file).size, 0)
}

/** The store of the only collection. */
export function storeIn(folder: string): string {
  return filesIn(folder).find((file) => file.endsWith('store.db'))!
}

function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
