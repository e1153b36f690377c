/**
 * Writes of collections and tables. They take turns at the writer thread.
 *
 * The writer thread commits all queued writes together, so a large write delays all others. So
 * writes wait here, where principals take turns. The thread gets only about as many writes as it
 * can do in some tens of milliseconds. Large batches are split, since each write is atomic by
 * itself. A write is packed after its turn has come: a waiting write takes no extra memory, and is
 * packed for the target's current schema.
 */
import { ownCaller, type Caller } from '../../../caller/caller.ts'
import { FairQueue } from '../../../caller/fair-queue.ts'
import { fixedLimits } from '../../../limits.ts'
import { inTurns, neverThrowing } from '../../../runtime/steps.ts'
import type { Outcome, Write, WriteOptions } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Collection, Target } from '../../schema.ts'
import { isSmall } from '../write/gathered-writes.ts'
import { packWrites } from '../write/pack-writes.ts'
import type { WriteOutcome, Written } from '../write/write-batch.ts'
import { pieceSize, piecesOf, type Piece } from '../write/write-pieces.ts'
import type { Writer } from '../write/writer.ts'
import type { Vectors } from '../vectors/vectors.ts'
import type { RowCache, OnSettled } from '../store/row-cache.ts'
import type { OpenStores, OpenStore } from './open-stores.ts'
import { invalidateRows } from '../read/record-page.ts'
import { viewOf } from '../format/views.ts'

/** Number of characters handed over to the thread at a time: some tens of milliseconds of work. */
const handedOverMax = 2 * pieceSize

export interface RecordWritesOptions {
  readonly stores: OpenStores
  readonly writer: Writer
  readonly vectors: Vectors
  /** Runs `act` on the store of a target, and opens it if needed. */
  readonly using: (
    target: Target,
    act: (store: OpenStore) => Promise<readonly WriteOutcome[]>,
  ) => Promise<readonly WriteOutcome[]> | readonly WriteOutcome[]
  /** Throws when the target was dropped or has another schema. */
  readonly checkCurrent: (target: Target) => void
}

/** A write's caller, and its approximate size in characters. */
export interface Writing {
  readonly caller: Caller
  readonly size: number
}

export class RecordWrites {
  readonly #options: RecordWritesOptions
  readonly #turns = new FairQueue({
    capacity: handedOverMax,
    waitingMax: fixedLimits.waitingWorkMax,
    refuse: (waitingMax) =>
      new EngineError(
        'overloaded',
        `${waitingMax} writes of this token are already waiting`,
      ),
  })

  constructor(options: RecordWritesOptions) {
    this.#options = options
  }

  /** Number of writes that wait for their turn. */
  get waiting(): number {
    return this.#turns.waiting
  }

  /** Resolves when all accepted writes have finished. */
  drained(): Promise<void> {
    return this.#turns.drained()
  }

  write(
    collection: Collection,
    writes: readonly Write[],
    { ordered = false, caller = ownCaller() }: WriteOptions,
  ): Promise<readonly Outcome[]> {
    const pieces = piecesOf(writes)
    return pieces.length === 1
      ? this.#writePiece(collection, pieces[0]!, ordered, caller)
      : this.#writePieces(collection, pieces, ordered, caller)
  }

  async #writePieces(
    collection: Collection,
    pieces: readonly Piece[],
    ordered: boolean,
    caller: Caller,
  ): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    let isStopped = false
    for (const piece of pieces) {
      if (isStopped) {
        outcomes.push(...piece.writes.map(() => 'skipped' as const))
        continue
      }
      const made = await this.#writePiece(collection, piece, ordered, caller).catch(
        (error: unknown) => {
          // Outcomes of earlier pieces are reported, because their writes are durable.
          if (outcomes.length === 0 || !(error instanceof EngineError)) throw error
          return piece.writes.map((_, i) => (ordered && i > 0 ? 'skipped' : error))
        },
      )
      outcomes.push(...made)
      isStopped = ordered && made.some((outcome) => outcome !== 'done')
    }
    return outcomes
  }

  #writePiece(
    collection: Collection,
    { writes, size }: Piece,
    ordered: boolean,
    caller: Caller,
  ): Promise<readonly Outcome[]> {
    const { writer, checkCurrent } = this.#options
    const view = viewOf(collection)
    const [first] = writes
    const outcomes = this.take(
      collection,
      { caller, size },
      ({ file }) => {
        caller.check()
        if (writes.length === 1 && isSmall(first!))
          return writer.writeSoon(file, first!, view)
        const batch = inTurns(packWrites(writes, view, ordered), caller)
        if (!(batch instanceof Promise)) return writer.write(file, batch)
        return batch.then((packed) => {
          // The event loop ran while the batch was packed, so the collection may have been dropped.
          checkCurrent(collection)
          return writer.write(file, packed)
        })
      },
      (cache) => invalidateRows(writes, cache),
    )
    return outcomes as Promise<readonly Outcome[]>
  }

  async truncate(target: Target, caller: Caller): Promise<void> {
    await this.take(
      target,
      { caller, size: pieceSize },
      ({ file }) => this.#options.writer.truncate(file),
      (cache) => cache.invalidateAll(),
    )
  }

  /**
   * Takes a turn, then runs `act`. `invalidate` invalidates the cached rows that the write is about
   * to change.
   */
  take(
    target: Target,
    { caller, size }: Writing,
    act: (store: OpenStore) => Promise<Written>,
    invalidate?: (cache: RowCache) => OnSettled,
  ): Promise<readonly WriteOutcome[]> {
    const { stores, using, checkCurrent } = this.#options
    const write = async (store: OpenStore): Promise<readonly WriteOutcome[]> => {
      let isAdmitted = false
      let onSettled: OnSettled | undefined
      let written: Written | undefined
      stores.begin(store)
      try {
        const waiting = this.#turns.enter(caller, size)
        if (waiting !== undefined) await waiting
        isAdmitted = true
        if (waiting !== undefined) checkCurrent(target)
        const { rowCache } = store.reader.store
        onSettled = rowCache && invalidate?.(rowCache)
        written = await act(store)
        return written.outcomes
      } finally {
        if (isAdmitted) {
          // The store may have been dropped meanwhile, and another store may have its path.
          if (stores.isOpen(store)) this.#noteWrite(store, written)
          onSettled?.(written)
          this.#turns.leave(size)
        }
        stores.end(store)
      }
    }
    const writing = neverThrowing(() => using(target, write))
    return writing as Promise<readonly WriteOutcome[]>
  }

  /** Ends the shared snapshot, so that later reads and searches see the write. */
  #noteWrite({ file, reader }: OpenStore, written: Written | undefined): void {
    reader.store.noteWrite()
    if (written === undefined) return
    for (const field of reader.view.vectors.values())
      if (field.metric !== undefined)
        this.#options.vectors.noteWrite(file, field, written.version)
  }
}
