/** The thread that writes, seen from the one that answers requests. */
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

/** When the thread starts if nothing is written before: a start has enough to do. */
const startMs = 5_000

export class Writer {
  /** Undefined: nothing was asked of it yet. */
  #started: Thread<WriterMessage, WriterReply> | undefined
  readonly #starting: NodeJS.Timeout
  readonly #durable: boolean
  readonly #tally = new CommitTally()
  readonly #files: KnownFiles
  readonly #health: StoreHealth
  readonly #damage: DamageCount
  /** Stores that the thread has heard of. */
  readonly #introduced = new Set<string>()
  /** How the thread sees the rows of tables, by the files of their stores. */
  readonly #rowViews = new Map<string, RowView>()
  readonly #gathered = new GatheredWrites((file, batch) => this.write(file, batch))
  #isStopped = false

  constructor(
    durable: boolean,
    files: KnownFiles,
    health: StoreHealth,
    damage: DamageCount,
  ) {
    this.#durable = durable
    this.#files = files
    this.#health = health
    this.#damage = damage
    this.#starting = setTimeout(() => this.#thread, startMs).unref()
  }

  get #thread(): Thread<WriterMessage, WriterReply> {
    if (this.#isStopped) throw new EngineError('closed', 'the store is closed')
    this.#started ??= this.#start()
    return this.#started
  }

  #start(): Thread<WriterMessage, WriterReply> {
    const health = this.#health
    const damage = this.#damage
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
    const { catalog } = this.#files
    const settings = { durable: this.#durable, catalog, tally: this.#tally.shared }
    // The first write fails if this does.
    thread.ask({ kind: 'configure', ...settings }).catch(() => undefined)
    return thread
  }

  /** Since the start: commits, and the records that were written in them. */
  get counts(): CommitCounts {
    return this.#tally.counts
  }

  /** What waits to be done in the indexes of stores that were written to. */
  get indexDebt(): IndexDebt {
    return this.#tally.debt
  }

  /** What was asked for and is not done yet. */
  get waiting(): number {
    return this.#started?.waiting ?? 0
  }

  async memory(): Promise<ThreadMemory | undefined> {
    return this.#started?.memory()
  }

  async write(file: string, batch: WriteBatch): Promise<Written> {
    return this.#ask({ kind: 'write', file, batch })
  }

  /** The same for one small write, together with others of this turn. */
  writeSoon(file: string, write: Write, view: RecordView): Promise<Written> {
    return this.#gathered.add(file, write, view)
  }

  /** The same for a batch of merges, by what the table is now. */
  async merge(file: string, batch: WriteBatch, view: RowView): Promise<Written> {
    this.#showRows(file, view)
    return this.#ask({ kind: 'write', file, batch })
  }

  /** Deletes some of the rows; `left` says which ranges are left, if any. */
  async deleteRows(file: string, deletion: Deletion, view: RowView): Promise<Written> {
    this.#showRows(file, view)
    return this.#ask({ kind: 'deleteRows', file, deletion })
  }

  async truncate(file: string): Promise<Written> {
    return this.#ask({ kind: 'truncate', file })
  }

  /** Forgets what a feed says of writes up to this one. */
  async trim(file: string, suffix: string, version: number): Promise<void> {
    await this.#ask({ kind: 'trim', file, suffix, version })
  }

  /**
   * Does a part of what a change of indexes takes, between other writes. Returns where the
   * next part starts, or undefined when all is done.
   */
  async reindex(file: string, step: IndexStep): Promise<number | undefined> {
    const reply = await this.#ask({ kind: 'reindex', file, step })
    return reply.next
  }

  /** Stands still between two commits until the other side of the gate lets it go on. */
  async hold(gate: Gate): Promise<void> {
    await this.#ask({ kind: 'hold', gate })
  }

  /** Opens a store that is not written to yet. If it fails, the next read or write says why. */
  async open(file: string): Promise<void> {
    this.#introduce(file)
    await this.#thread.ask({ kind: 'open', file }).catch(() => undefined)
  }

  /** Closes a store for now: a later write opens it again. */
  async release(file: string): Promise<void> {
    await this.#close(file, true)
  }

  /** Closes a store that was dropped. */
  async close(file: string): Promise<void> {
    await this.#close(file, false)
    this.#health.forget(file)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#starting)
    this.#gathered.send()
    this.#isStopped = true
    await this.#started?.stop({ kind: 'stop' })
  }

  /** The next write to it introduces it again. */
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
    if ('file' in message) this.#health.noteSuccess(message.file)
    return 'outcomes' in reply ? reply : { outcomes: [], version: 0, before: 0 }
  }

  #showRows(file: string, view: RowView): void {
    if (this.#rowViews.get(file) === view) return
    this.#introduce(file)
    this.#rowViews.set(file, view)
    const { definition, types } = view.table
    // If this fails, so does what follows it.
    this.#thread
      .ask({ kind: 'showRows', file, table: { definition, types } })
      .catch(() => undefined)
  }

  #introduce(file: string): void {
    if (this.#introduced.has(file)) return
    const identity = this.#files.identityOf(file)
    if (identity === undefined) return
    this.#introduced.add(file)
    // If this fails, so does what follows it.
    this.#thread.ask({ kind: 'introduce', file, identity }).catch(() => undefined)
  }
}
