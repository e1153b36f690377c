/**
 * The writer thread. All stores are written here, so that a slow disk does not block the main
 * thread.
 *
 * Group commit: all writes that are queued when a commit starts share one transaction and one sync
 * per store. During the sync the next group is queued.
 */
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { collectWhenQuiet } from '../../../runtime/collect-garbage.ts'
import { limitAnalyzerMemory } from '../../../search/lexical/analyzer.ts'
import type { StoredTable } from '../schema/stored-schema.ts'
import { CommitTally, type SharedTally } from './commit-tally.ts'
import { pauseUntilOpened, type Gate } from './write-pause.ts'
import {
  isFull,
  isHeld,
  OpenedFiles,
  failedWriteMessage,
  problemOf,
  type DiskProblem,
} from '../files/disk-trouble.ts'
import type { FileIdentity } from '../files/file-identity.ts'
import { KnownFiles } from '../files/known-files.ts'
import { EngineError } from '../../errors.ts'
import type { IndexStep } from './reindex.ts'
import { writerCache } from '../store/shared-cache.ts'
import { StoreWriter } from './store-writer.ts'
import { StoresByFile } from '../store/stores-by-file.ts'
import { markClosed } from '../store/version-file.ts'
import { detailsOf } from '../../../errors/reason.ts'
import { failureOf, type Failure } from '../worker/thread.ts'
import { RowView } from '../format/row-view.ts'
import type { Deletion, IdRange, WriteBatch, WriteOutcome } from './write-batch.ts'

/** Messages to the thread. Each gets one reply with its id. */
export type WriterMessage =
  | {
      readonly id: number
      readonly kind: 'write'
      readonly file: string
      batch: WriteBatch
    }
  | {
      readonly id: number
      readonly kind: 'deleteRows'
      readonly file: string
      readonly deletion: Deletion
    }
  | { readonly id: number; readonly kind: 'truncate'; readonly file: string }
  | { readonly id: number; readonly kind: 'open'; readonly file: string }
  | {
      readonly id: number
      readonly kind: 'trim'
      readonly file: string
      readonly suffix: string
      readonly version: number
    }
  | {
      readonly id: number
      readonly kind: 'reindex'
      readonly file: string
      readonly step: IndexStep
    }
  /**
   * Identity of a store's file, sent before the first write, so that the thread opens the same
   * file.
   */
  | {
      readonly id: number
      readonly kind: 'introduce'
      readonly file: string
      readonly identity: FileIdentity
    }
  /** The schema of a table, with which later writes interpret the rows of the store. */
  | {
      readonly id: number
      readonly kind: 'showRows'
      readonly file: string
      readonly table: Pick<StoredTable, 'definition' | 'types'>
    }
  | {
      readonly id: number
      readonly kind: 'close'
      readonly file: string
      /** Whether the store stays in use, and should be tidied. */
      readonly tidy: boolean
    }
  | { readonly id: number; readonly kind: 'hold'; readonly gate: Gate }
  | {
      readonly id: number
      readonly kind: 'configure'
      readonly durable: boolean
      readonly tally: SharedTally
      /** Identity of the catalog's file, which shows that the data folder is still the same. */
      readonly catalog: FileIdentity
      /** Maximum bytes of compiled analyzers on this thread. */
      readonly analyzerMemoryMax: number
    }
  | { readonly id: number; readonly kind: 'stop' }

export type WriterReply =
  | {
      readonly id: number
      readonly outcomes: readonly WriteOutcome[]
      /** Version of the store after the group of writes. */
      readonly version: number
      /** Version of the store before this write. */
      readonly before: number
      /** Start of the next part of an index step. */
      readonly next?: number | undefined
      /** Ranges with rows that are still to be deleted. */
      readonly left?: readonly IdRange[] | undefined
    }
  | (Failure & {
      readonly file?: string
      /** The disk problem that caused the failure, if any. */
      readonly trouble?: DiskProblem | undefined
    })

function serve(port: NonNullable<typeof parentPort>): void {
  const stores = new StoresByFile<StoreWriter>(writerCache)
  const rowViews = new Map<string, RowView>()
  const untidy = new Set<string>()
  const told = new Set<string>()
  let durable = true
  let tally = new CommitTally()
  let files: KnownFiles
  let roomMadeAt = -Infinity
  let debtNotedAt = -Infinity

  const tidySoon = setTimeout(() => {
    // Merges come first, in short steps, because a write may arrive. Tidying comes last, so that
    // its checkpoint includes the pages that the merges wrote.
    const merging = [...untidy].find(
      (file) => tryOn(file, (store) => store.mergeWhileIdle()) === true,
    )
    if (merging === undefined) for (const file of [...untidy]) tidy(file)
    noteDebt()
    if (untidy.size > 0) tidySoon.refresh()
  }, idleMs).unref()

  const noteDebt = (): void => {
    debtNotedAt = performance.now()
    tally.setDebt(stores.files.map((file) => stores.get(file)!.debt))
  }

  const tidy = (file: string): void => {
    if (!untidy.delete(file)) return
    const isMore = tryOn(file, (store) => store.tidy())
    if (isMore === true) untidy.add(file)
  }

  /** Runs background work on a store, for which no caller waits. A failure closes the store. */
  const tryOn = <T>(file: string, work: (store: StoreWriter) => T): T | undefined => {
    const store = stores.get(file)
    try {
      return store && work(store)
    } catch (error) {
      // No data is lost. If the disk is the cause, the next write reports it.
      stores.close(file)
      if (problemOf(error, file) === undefined && !isHeld(error)) tellOnce(file, error)
      return undefined
    }
  }

  /** Reports a failure of background work once, because no caller waits for the work. */
  const tellOnce = (file: string, error: unknown): void => {
    const failure = { ...failureOf(0, error), file }
    const said = `${file} ${failure.details}`
    if (told.has(said)) return
    told.add(said)
    port.postMessage([failure satisfies WriterReply])
  }

  const storeOf = (file: string): StoreWriter =>
    stores.get(file) ??
    stores.add(file, new StoreWriter(new OpenedFiles(files.admit(file)), durable))

  /**
   * Opens a store. A failure is ignored: the next read or write opens it again and reports the
   * failure.
   */
  const tryToOpen = (file: string): void => {
    try {
      storeOf(file)
    } catch {
      stores.close(file)
    }
  }

  /**
   * Commits tasks to a store. On a full disk, truncates the logs of all stores and tries once more.
   */
  const commitIn = (file: string, tasks: readonly ((store: StoreWriter) => Done)[]) => {
    try {
      return storeOf(file).commit(tasks)
    } catch (error) {
      if (!isFull(error) || performance.now() - roomMadeAt < makeRoomMs) throw error
      roomMadeAt = performance.now()
      stores.close(file)
      makeRoom(file)
      return storeOf(file).commit(tasks)
    }
  }

  const makeRoom = (file: string): void => {
    for (const open of [...stores.files, file])
      try {
        storeOf(open).emptyLog()
      } catch {
        // A log that cannot be truncated keeps its size.
        stores.close(open)
      }
  }

  /** Commits consecutive writes to one store in one transaction. */
  const commitGroup = (file: string, group: readonly WriterMessage[]): WriterReply[] => {
    try {
      const tasks = group.map((message) => (store: StoreWriter): Done => {
        const before = store.version
        switch (message.kind) {
          case 'write':
            return { outcomes: store.write(message.batch, rowViews.get(file)), before }
          case 'deleteRows':
            return { ...store.deleteRows(message.deletion, rowViews.get(file)!), before }
          case 'trim':
            return { outcomes: store.trim(message.suffix, message.version), before }
          case 'reindex':
            return { outcomes: [], next: store.reindex(message.step), before }
          default:
            return { outcomes: store.truncate(), before }
        }
      })
      const done = commitIn(file, tasks)
      const store = storeOf(file)
      untidy.add(file)
      tally.add(done.map(({ outcomes }) => outcomes))
      const { version } = store
      return group.map(({ id }, i) => ({ id, ...done[i]!, version }))
    } catch (failure) {
      // Closing the store rolls back the transaction; the next write reopens it.
      stores.close(file)
      const isDamage = failure instanceof EngineError && failure.kind === 'damaged'
      // Only the write that hit the damaged record should fail, so each write is tried again on its
      // own.
      if (isDamage && group.length > 1)
        return group.flatMap((message) => commitGroup(file, [message]))
      const trouble = problemOf(failure, file)
      const error = failedWriteMessage(failure, trouble)
      const details = detailsOf(failure)
      return group.map(({ id }) => ({ id, error, details, isDamage, file, trouble }))
    }
  }

  const control = (message: WriterMessage): WriterReply => {
    try {
      if (message.kind === 'configure') {
        durable = message.durable
        tally = new CommitTally(message.tally)
        files = new KnownFiles(message.catalog)
        limitAnalyzerMemory(message.analyzerMemoryMax)
      } else if (message.kind === 'introduce') {
        files.introduce(message.file, message.identity)
      } else if (message.kind === 'showRows') {
        rowViews.set(message.file, new RowView(message.table))
      } else if (message.kind === 'open') {
        tryToOpen(message.file)
      } else if (message.kind === 'close') {
        if (message.tidy) tidy(message.file)
        untidy.delete(message.file)
        files.forget(message.file)
        rowViews.delete(message.file)
        stores.close(message.file)
        // This thread marks the store as closed, because only this thread writes the version file.
        if (message.tidy) markClosed(message.file)
      } else if (message.kind === 'hold') pauseUntilOpened(message.gate)
      else if (message.kind === 'stop') {
        untidy.clear()
        stores.closeAll()
      }
      return { id: message.id, outcomes: [], version: 0, before: 0 }
    } catch (error) {
      return failureOf(message.id, error)
    }
  }

  port.on('message', (first: WriterMessage) => {
    const messages = [first, ...waiting(port)]
    const replies: WriterReply[] = []
    const written = new Set<string>()
    for (const group of groupsOf(messages)) {
      const message = group[0]!
      if (isWrite(message)) {
        replies.push(...commitGroup(message.file, group))
        written.add(message.file)
      } else replies.push(control(message))
    }
    port.postMessage(replies)
    // While the indexes are merged, the next group of writes is queued.
    for (const file of written) tryOn(file, (store) => store.keepUp())
    // The pending work of all stores is summed at most once per `idleMs` here, because there may be
    // many stores. The idle timer sums it in any case.
    if (performance.now() - debtNotedAt > idleMs) noteDebt()
    tidySoon.refresh()
    if (messages.some(({ kind }) => kind === 'stop')) port.close()
  })
}

interface Done {
  readonly outcomes: WriteOutcome[]
  readonly before: number
  readonly next?: number | undefined
  readonly left?: readonly IdRange[] | undefined
}

/** Minimum time between two attempts to make room on a full disk, in milliseconds. */
const makeRoomMs = 1_000

/** Idle time before files are tidied, in milliseconds. */
const idleMs = 100

function waiting(port: NonNullable<typeof parentPort>): WriterMessage[] {
  const messages: WriterMessage[] = []
  for (;;) {
    const received = receiveMessageOnPort(port) as { message: WriterMessage } | undefined
    if (received === undefined) return messages
    messages.push(received.message)
  }
}

/**
 * Splits the queue into groups that can share a transaction. Keeps the order per store; a control
 * message is a barrier.
 */
function groupsOf(messages: readonly WriterMessage[]): WriterMessage[][] {
  const groups: WriterMessage[][] = []
  let open = new Map<string, WriterMessage[]>()
  for (const message of messages) {
    if (!isWrite(message)) {
      groups.push([message])
      open = new Map()
      continue
    }
    const group = open.get(message.file)
    if (group !== undefined) group.push(message)
    else {
      const started = [message]
      open.set(message.file, started)
      groups.push(started)
    }
  }
  return groups
}

function isWrite(
  message: WriterMessage,
): message is Extract<WriterMessage, { kind: (typeof writeKinds)[number] }> {
  return (writeKinds as readonly string[]).includes(message.kind)
}

const writeKinds = ['write', 'deleteRows', 'truncate', 'trim', 'reindex'] as const

if (parentPort !== null) {
  collectWhenQuiet()
  serve(parentPort)
}
