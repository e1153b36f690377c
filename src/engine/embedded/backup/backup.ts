/**
 * Backs up a consistent snapshot of the data folder, while reads and writes continue.
 *
 * A backup first blocks changes of schemas and settings. The backup thread opens every store, the
 * writer thread pauses until a snapshot of each store has started, and the catalog is copied. After
 * that, nothing is blocked: the stores are copied one by one, each into a file that is deleted
 * after it was sent.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupContents, BackupFile, BackupPart } from '../../backup.ts'
import { EngineError } from '../../errors.ts'
import { privateFileMode, privateFolderMode } from '../../private-files.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import type { BackupMessage, BackupReply, CopiedFile, StoreState } from './backup-thread.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { abandon, makeGate } from '../write/write-pause.ts'
import type { KnownFiles } from '../files/known-files.ts'
import { copiesFolder } from '../store/layout.ts'
import { reasonOf } from '../../../errors/reason.ts'
import { siblingModule } from '../../../runtime/sibling-module.ts'
import { Thread, type Unnumbered } from '../worker/thread.ts'
import type { Writer } from '../write/writer.ts'

export interface BackedUp {
  readonly dataDir: string
  readonly catalog: Catalog
  readonly writer: Writer
  readonly files: KnownFiles
  /** Runs `act` without concurrent schema changes. */
  inTurn<T>(act: () => Promise<T>): Promise<T>
}

/** The running backups of one engine. */
export class Backups {
  readonly #source: BackedUp
  readonly #running = new Set<Session>()
  #stillness: Promise<unknown> = Promise.resolve()

  constructor(source: BackedUp) {
    this.#source = source
  }

  /** Settles when no backup needs the catalog to stay unchanged. */
  get stillness(): Promise<unknown> {
    return this.#stillness
  }

  /**
   * Makes a backup, and yields its parts. When the caller stops iterating or aborts the signal, all
   * resources of the backup are freed.
   */
  async *run(have: ReadonlySet<string>, signal: AbortSignal): AsyncGenerator<BackupPart> {
    signal.throwIfAborted()
    const session = new Session(this.#source)
    this.#running.add(session)
    const end = () => void session.close()
    signal.addEventListener('abort', end)
    try {
      const moment = await this.#source.inTurn(() => {
        const taken = session.takeMoment()
        this.#stillness = taken.catch(() => undefined)
        return taken
      })
      yield* partsOf(moment, session, have)
    } catch (error) {
      signal.throwIfAborted()
      throw asBackupError(error)
    } finally {
      signal.removeEventListener('abort', end)
      await session.close()
      this.#running.delete(session)
    }
  }

  /** Aborts all running backups. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((session) => session.close()))
  }
}

async function* partsOf(
  { created, catalog, stores }: Moment,
  session: Session,
  have: ReadonlySet<string>,
): AsyncGenerator<BackupPart> {
  const wanted = stores.filter(({ key }) => !have.has(key))
  await session.release(stores.filter(({ key }) => have.has(key)))
  const files = have.has(catalog.key) ? wanted : [catalog, ...wanted]
  const size = files.reduce((sum, file) => sum + file.size, 0)
  yield { kind: 'begin', files: files.length, size }
  const { content, ...catalogFile } = catalog
  if (!have.has(catalog.key))
    yield { kind: 'file', key: catalog.key, size: content.length, content: once(content) }
  const copied = new Map<string, CopiedFile>()
  for (const { file, key } of wanted) {
    const { path, ...copy } = await session.copy(file)
    copied.set(key, copy)
    yield { kind: 'file', key, size: copy.size, content: contentOf(path) }
    await rm(path, { force: true })
  }
  const contents: BackupContents = {
    created,
    catalog: catalogFile,
    stores: stores.map(({ target: { keyspace, name, uid }, key }) => ({
      ...{ keyspace, name, uid, key },
      ...copied.get(key),
    })),
  }
  yield { kind: 'end', contents }
}

/** The content of a backup: the catalog and all stores, as of one moment. */
interface Moment {
  readonly created: string
  readonly catalog: BackupFile & { readonly content: Buffer }
  readonly stores: readonly StoreAtMoment[]
}

interface StoreAtMoment {
  readonly target: StoredTarget
  readonly file: string
  readonly key: string
  /** Size of the store in bytes; the size of the copy can differ slightly. */
  readonly size: number
}

/** Resources of one backup. */
class Session {
  readonly #source: BackedUp
  readonly #folder: string
  readonly #thread: Thread<BackupMessage, BackupReply>
  readonly #gate = makeGate()
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(4))
  #moment: Promise<Moment> | undefined
  #closing: Promise<void> | undefined

  constructor(source: BackedUp) {
    this.#source = source
    this.#folder = join(source.dataDir, copiesFolder + randomUUID())
    this.#thread = new Thread<BackupMessage, BackupReply>(
      'backup',
      siblingModule('backup-thread', import.meta.url),
      (reason, options) => new EngineError('read', reason, options),
    )
  }

  /**
   * Starts the snapshots of all files. Meanwhile, the caller must prevent changes of schemas and
   * settings.
   */
  takeMoment(): Promise<Moment> {
    this.#moment = this.#takeMoment()
    return this.#moment
  }

  async #takeMoment(): Promise<Moment> {
    // The backup may have been aborted before its turn came.
    this.#refuseIfClosed()
    const { catalog, writer, files: known } = this.#source
    await mkdir(this.#folder, { mode: privateFolderMode })
    const { targets } = catalog
    const files = targets.map((target) => catalog.storeFile(target)!)
    for (const file of files) known.open(file, 'read', () => undefined)
    await this.#ask({ kind: 'open', files })
    const [states] = await Promise.all([this.#look(), this.#hold(writer)])
    const created = new Date().toISOString()
    const stores = targets.map((target, i): StoreAtMoment => {
      const state = states[i]!
      return { target, file: files[i]!, key: keyOf(target, state), size: state.size }
    })
    return { created, stores, catalog: await this.#copyCatalog() }
  }

  async #look(): Promise<readonly StoreState[]> {
    const reply = await this.#ask({ kind: 'look', gate: this.#gate })
    return (reply as { readonly states: readonly StoreState[] }).states
  }

  async #hold(writer: Writer): Promise<void> {
    try {
      await writer.hold(this.#gate)
    } catch (error) {
      // A thread may still wait at the gate. Abandoning the gate ends its wait.
      abandon(this.#gate)
      throw error
    }
  }

  async #copyCatalog(): Promise<Moment['catalog']> {
    const path = join(this.#folder, 'catalog')
    await (await open(path, 'wx', privateFileMode)).close()
    await this.#source.catalog.copyTo(path)
    const content = await readFile(path)
    await rm(path)
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { key: `catalog-${sha256}`, size: content.length, sha256, content }
  }

  async release(stores: readonly StoreAtMoment[]): Promise<void> {
    await this.#ask({ kind: 'release', files: stores.map(({ file }) => file) })
  }

  /** Copies a store. The caller deletes the copy. */
  async copy(file: string): Promise<CopiedFile & { readonly path: string }> {
    const path = join(this.#folder, 'store')
    const cancelled = this.#cancelled
    const reply = await this.#ask({ kind: 'copy', file, to: path, cancelled })
    return { ...(reply as { readonly copied: CopiedFile }).copied, path }
  }

  async #ask(message: Unnumbered<BackupMessage>): Promise<BackupReply> {
    try {
      return await this.#thread.ask(message)
    } catch (error) {
      // An error after the close is a consequence of the close, so the shutdown is reported
      // instead.
      this.#refuseIfClosed()
      throw error
    }
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined)
      throw new EngineError('closed', 'the backup was aborted: the server is shutting down')
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    Atomics.store(this.#cancelled, 0, 1)
    abandon(this.#gate)
    // Failures are ignored here: callers get the errors of their own requests.
    await this.#thread.stop({ kind: 'stop' }).catch(() => undefined)
    await this.#moment?.catch(() => undefined)
    await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

/**
 * The key of a store's content. Each write raises the version. After the folder is restored to an
 * earlier state, versions repeat, and the stamp distinguishes them. Schema changes build indexes
 * without raising the version, so the key includes the definition. Other changes of a store, such
 * as merges of its indexes, do not affect reads.
 */
function keyOf(target: StoredTarget, { version, stamp, format }: StoreState): string {
  const definition =
    target.kind === 'table' ? [target.definition, target.types] : [target.options]
  const what = JSON.stringify([format, stamp, target.kind, ...definition])
  const digest = createHash('sha256').update(what).digest('hex').slice(0, 32)
  return `${target.uid}-${version}-${digest}`
}

// eslint-disable-next-line @typescript-eslint/require-await
async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

/**
 * The content of a file. The file is opened at the first read, so a caller that never reads the
 * content leaves no file open.
 */
async function* contentOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: chunkSize }) as AsyncIterable<Buffer>
}

const chunkSize = 256 * 1024

function asBackupError(error: unknown): unknown {
  if (error instanceof EngineError && error.kind === 'closed') return error
  const isExpected =
    error instanceof EngineError ||
    (error instanceof Error && ('syscall' in error || 'errcode' in error))
  if (!isExpected) return error
  const reason = reasonOf(error)
  const hint = /full|ENOSPC/.test(reason)
    ? '. A backup needs free space in the data folder for a copy of the largest ' +
      'collection or table'
    : ''
  return new EngineError('read', `the backup failed: ${reason}${hint}`, {
    cause: error,
  })
}
