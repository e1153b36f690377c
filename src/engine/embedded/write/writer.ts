/** The main thread's interface to the writer thread. */
import { siblingModule } from '../../../runtime/sibling-module.ts'
import { EngineError } from '../../errors.ts'
import type { IndexDebt, ThreadMemory } from '../../operations.ts'
import { CommitTally, type CommitCounts } from './commit-tally.ts'
import { GatheredWrites } from './gathered-writes.ts'
import type { Gate } from './write-pause.ts'
import { errorOf, Thread, type Failure, type Unnumbered } from '../worker/thread.ts'
import type { DamageCount } from '../format/damage.ts'
import type { IndexStep } from './reindex.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { StoreHealth } from '../catalog/store-health.ts'
import type { Write } from '../../contract.ts'
import type { RecordView } from '../../record-view.ts'
import type { RowView } from '../format/row-view.ts'
import type { Deletion, WriteBatch, Written } from './write-batch.ts'
import type { WriterMessage, WriterReply } from './writer-thread.ts'

/**
 * Milliseconds after which the thread starts without a write: an earlier start would delay the
 * server's start.
 */
const startMs = 5_000

export interface WriterOptions {
  readonly durable: boolean
  readonly files: KnownFiles
  readonly health: StoreHealth
  readonly damage: DamageCount
  /** Maximum bytes of compiled analyzers on the thread. */
  readonly analyzerMemoryMax: number
}

export class Writer {
  /** The writer thread; undefined: it was not started yet. */
  #started: Thread<WriterMessage, WriterReply> | undefined
  readonly #starting: NodeJS.Timeout
  readonly #options: WriterOptions
  readonly #tally = new CommitTally()
  /** Stores whose file identity was sent to the thread. */
  readonly #introduced = new Set<string>()
  /** Row views of tables that were sent to the thread, by store file. */
  readonly #rowViews = new Map<string, RowView>()
  readonly #gathered = new GatheredWrites((file, batch) => this.write(file, batch))
  #isStopped = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.#starting = setTimeout(() => this.#thread, startMs).unref()
  }

  get #thread(): Thread<WriterMessage, WriterReply> {
    if (this.#isStopped) throw new EngineError('closed', 'the server is shutting down')
    this.#started ??= this.#start()
    return this.#started
  }

  #start(): Thread<WriterMessage, WriterReply> {
    const { durable, files, health, damage, analyzerMemoryMax } = this.#options
    const thread = new Thread<WriterMessage, WriterReply>(
      'writer',
      siblingModule('writer-thread', import.meta.url),
      (reason, options, reply) => {
        if (reply === undefined)
          return new EngineError('write', health.noteDeath(reason), options)
        if ('trouble' in reply && reply.trouble !== undefined)
          health.noteFailure(reply.file!, reply.trouble)
        return damage.note(errorOf('write', reason, options, reply))
      },
      (notice) => {
        const { file, details, isDamage } = notice as Failure & { readonly file: string }
        if (isDamage) damage.add()
        health.noteNeglect(file, details)
      },
    )
    const { catalog } = files
    const settings = { durable, catalog, tally: this.#tally.shared, analyzerMemoryMax }
    // If this message fails, so does the first write.
    thread.ask({ kind: 'configure', ...settings }).catch(() => undefined)
    return thread
  }

  /** Commits and written records since the start. */
  get counts(): CommitCounts {
    return this.#tally.counts
  }

  /** Pending index work of the stores that were written to. */
  get indexDebt(): IndexDebt {
    return this.#tally.debt
  }

  /** Number of requests that wait for a reply. */
  get waiting(): number {
    return this.#started?.waiting ?? 0
  }

  async memory(): Promise<ThreadMemory | undefined> {
    return this.#started?.memory()
  }

  async write(file: string, batch: WriteBatch): Promise<Written> {
    return this.#ask({ kind: 'write', file, batch })
  }

  /**
   * Like `write`, for one small write, which is sent together with other small writes of this turn
   * of the event loop.
   */
  writeSoon(file: string, write: Write, view: RecordView): Promise<Written> {
    return this.#gathered.add(file, write, view)
  }

  /** Like `write`, for a batch of merges, with the current schema of the table. */
  async merge(file: string, batch: WriteBatch, view: RowView): Promise<Written> {
    this.#showRows(file, view)
    return this.#ask({ kind: 'write', file, batch })
  }

  /** Deletes some of the rows; `left` in the result has the remaining ranges. */
  async deleteRows(file: string, deletion: Deletion, view: RowView): Promise<Written> {
    this.#showRows(file, view)
    return this.#ask({ kind: 'deleteRows', file, deletion })
  }

  async truncate(file: string): Promise<Written> {
    return this.#ask({ kind: 'truncate', file })
  }

  /** Removes changes up to `version` from a feed. */
  async trim(file: string, suffix: string, version: number): Promise<void> {
    await this.#ask({ kind: 'trim', file, suffix, version })
  }

  /**
   * Runs one part of an index step, between other writes. Returns the start of the next part, or
   * undefined after the last.
   */
  async reindex(file: string, step: IndexStep): Promise<number | undefined> {
    const reply = await this.#ask({ kind: 'reindex', file, step })
    return reply.next
  }

  /** Pauses the thread between two commits until the other thread opens the gate. */
  async hold(gate: Gate): Promise<void> {
    await this.#ask({ kind: 'hold', gate })
  }

  /** Opens a store before its first write. A failure is reported by the next read or write. */
  async open(file: string): Promise<void> {
    this.#introduce(file)
    await this.#thread.ask({ kind: 'open', file }).catch(() => undefined)
  }

  /** Closes a store that stays in use: a later write opens it again. */
  async release(file: string): Promise<void> {
    await this.#close(file, true)
  }

  /** Closes a store that was dropped. */
  async close(file: string): Promise<void> {
    await this.#close(file, false)
    this.#options.health.forget(file)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#starting)
    this.#gathered.send()
    this.#isStopped = true
    await this.#started?.stop({ kind: 'stop' })
  }

  /** Closes a store on the thread. The next write to the store introduces it again. */
  async #close(file: string, tidy: boolean): Promise<void> {
    this.#gathered.send()
    this.#introduced.delete(file)
    this.#rowViews.delete(file)
    await this.#started?.ask({ kind: 'close', file, tidy })
  }

  async #ask(message: Unnumbered<WriterMessage>): Promise<Written> {
    this.#gathered.send()
    if ('file' in message) this.#introduce(message.file)
    const reply = await this.#thread.ask(message)
    if ('file' in message) this.#options.health.noteSuccess(message.file)
    return 'outcomes' in reply ? reply : { outcomes: [], version: 0, before: 0 }
  }

  #showRows(file: string, view: RowView): void {
    if (this.#rowViews.get(file) === view) return
    this.#introduce(file)
    this.#rowViews.set(file, view)
    const { definition, types } = view.table
    // If this message fails, so does the next message.
    this.#thread
      .ask({ kind: 'showRows', file, table: { definition, types } })
      .catch(() => undefined)
  }

  #introduce(file: string): void {
    if (this.#introduced.has(file)) return
    const identity = this.#options.files.identityOf(file)
    if (identity === undefined) return
    this.#introduced.add(file)
    // If this message fails, so does the next message.
    this.#thread.ask({ kind: 'introduce', file, identity }).catch(() => undefined)
  }
}
