/**
 * Thread that copies the stores for one backup. It opens all stores, starts a read transaction on
 * each store while writes are paused, and so keeps a snapshot of each store until it is copied.
 * Meanwhile the write-ahead logs of the stores cannot be checkpointed, and grow.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { backup, type DatabaseSync } from 'node:sqlite'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parentPort } from 'node:worker_threads'
import { createPrivateFile } from '../../private-files.ts'
import { whilePaused, type Gate } from '../write/write-pause.ts'
import { openToRead } from '../store/layout.ts'
import { messageOf, reasonOf } from '../../../errors/reason.ts'
import { failureOf, type Failure } from '../worker/thread.ts'

export type BackupMessage =
  | { readonly id: number; readonly kind: 'open'; readonly files: readonly string[] }
  /** Starts a snapshot of all open stores, at one moment. */
  | { readonly id: number; readonly kind: 'look'; readonly gate: Gate }
  /** Ends snapshots of stores that the caller does not need. */
  | { readonly id: number; readonly kind: 'release'; readonly files: readonly string[] }
  /** Copies the snapshot of a store, and ends it. */
  | {
      readonly id: number
      readonly kind: 'copy'
      readonly file: string
      readonly to: string
      /** Shared flag: a value other than 0 cancels the backup. */
      readonly cancelled: Int32Array
    }
  | { readonly id: number; readonly kind: 'stop' }

export type BackupReply =
  | { readonly id: number; readonly states: readonly StoreState[] }
  | { readonly id: number; readonly copied: CopiedFile }
  | { readonly id: number }
  | Failure

/** The size of a store, and the numbers that identify its content. */
export interface StoreState {
  readonly version: number
  /**
   * Random number that changes with the first write after each opening of the store; 0 if the store
   * has no stamp.
   */
  readonly stamp: number
  readonly format: number
  readonly size: number
}

export interface CopiedFile {
  readonly size: number
  readonly sha256: string
}

/** Pages (some megabytes) copied per step. Between steps a backup can be cancelled. */
const pagesAtATime = 1000

function serve(port: NonNullable<typeof parentPort>): void {
  const stores = new Map<string, DatabaseSync>()

  const release = (file: string): void => {
    const store = stores.get(file)
    stores.delete(file)
    store?.close()
  }

  const answer = async (message: BackupMessage): Promise<BackupReply> => {
    const { id } = message
    switch (message.kind) {
      case 'open':
        for (const file of message.files) stores.set(file, openStore(file))
        return { id }
      case 'look': {
        const look = () => [...stores].map(([file, store]) => lookAt(file, store))
        return { id, states: whilePaused(message.gate, look) }
      }
      case 'release':
        message.files.forEach(release)
        return { id }
      case 'copy': {
        const { file, to, cancelled } = message
        createPrivateFile(to)
        await backup(stores.get(file)!, to, {
          rate: pagesAtATime,
          progress: () => {
            if (Atomics.load(cancelled, 0) !== 0) throw new Error('the backup was canceled')
          },
        })
        release(file)
        return { id, copied: await digestOf(to) }
      }
      case 'stop':
        for (const file of [...stores.keys()]) release(file)
        port.close()
        return { id }
    }
  }

  // Messages are handled one at a time, although more messages may arrive during a copy.
  let last: Promise<void> = Promise.resolve()
  port.on('message', (message: BackupMessage) => {
    last = last
      .then(() => answer(message))
      .catch((error: unknown) => failureOf(message.id, error))
      .then((reply) => port.postMessage([reply]))
  })
}

/**
 * Opens a store before writes are paused. SQLite reads the file only when it is first used, so a
 * row is read here.
 */
function openStore(file: string): DatabaseSync {
  try {
    const store = openToRead(file)
    store.prepare('SELECT value FROM meta').get()
    return store
  } catch (error) {
    throw unreadable(file, error)
  }
}

/**
 * Starts a snapshot of a store, and returns its state. The first read of the transaction starts the
 * snapshot.
 */
function lookAt(file: string, store: DatabaseSync): StoreState {
  try {
    store.exec('BEGIN')
    const meta = new Map(
      store
        .prepare("SELECT name, value FROM meta WHERE name IN ('version', 'stamp')")
        .all()
        .map(({ name, value }) => [name, Number(value)]),
    )
    const pragma = (name: string) => Number(store.prepare(`PRAGMA ${name}`).get()![name])
    return {
      version: meta.get('version')!,
      stamp: meta.get('stamp') ?? 0,
      format: pragma('user_version'),
      size: pragma('page_count') * pragma('page_size'),
    }
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** The error for a store that cannot be read. It names the store by its keyspace and name. */
function unreadable(file: string, error: unknown): Error {
  const folder = dirname(file)
  const name = join(basename(dirname(folder)), basename(folder))
  const cause = new Error(`${file}: ${messageOf(error)}`)
  return new Error(`${name} cannot be read: ${reasonOf(error)}`, { cause })
}

async function digestOf(file: string): Promise<CopiedFile> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return { size: (await stat(file)).size, sha256: hash.digest('hex') }
}

if (parentPort !== null) serve(parentPort)
