/**
 * The thread that maintains vector indexes: it opens them, applies the changes of their stores, and
 * does the slow part, linking and repairing, while no request waits.
 *
 * An index follows its store: on request it reads the changes up to a write from the store's feed,
 * applies them and replies. So it needs no state of earlier requests, and after a crash it
 * continues from its last snapshot.
 */
import { setImmediate as pause } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { collectWhenQuiet } from '../../../runtime/collect-garbage.ts'
import {
  codeBits,
  shortCodesMin,
  type CodeBits,
  type VectorMemory,
} from '../../../search/vector/code-width.ts'
import { capacityFor, type SegmentShape } from '../../../search/vector/segment.ts'
import type { Metric } from '../../../search/vector/similarity.ts'
import { VectorIndex, type SharedIndex } from '../../../search/vector/vector-index.ts'
import { OneByOne } from '../../one-by-one.ts'
import { Conversion, emptyIndex } from './conversion.ts'
import { VectorFeed } from './feed.ts'
import { keyOf, type IndexName } from './index-name.ts'
import { messageOf } from '../../../errors/reason.ts'
import { failureOf, type Failure } from '../worker/thread.ts'
import { dropSnapshot, loadSnapshot, saveSnapshot, snapshotFolder } from './snapshot.ts'

export type IndexerMessage =
  | {
      readonly id: number
      /** Applies all changes up to a write, and opens the index if necessary. */
      readonly kind: 'follow'
      readonly name: IndexName
      readonly options: IndexOptions
      readonly version: number
      /** Generation of the segments that the caller has. */
      readonly generation: number
    }
  | {
      readonly id: number
      readonly kind: 'close'
      readonly name: IndexName
      /** Whether to save a snapshot before closing the index, if there are enough changes. */
      readonly save: boolean
    }
  | { readonly id: number; readonly kind: 'stop' }

/** Properties of an index, from the options of its collection and the server's settings. */
export interface IndexOptions {
  readonly dimension: number
  readonly metric: Metric
  readonly memory: VectorMemory
  /** Number of threads that search, in addition to the indexer thread. */
  readonly searchers: number
  /** Vectors per segment; absent: as many as one WebAssembly memory has room for. */
  readonly capacity?: number
}

export type IndexerReply =
  | {
      readonly id: number
      /** The write up to which the index is complete. */
      readonly version: number
      readonly generation: number
      /** Number of vectors in the index. */
      readonly count: number
      /** Bytes that the vectors take. */
      readonly size: number
      /** All segments, when the caller does not have the current generation. */
      readonly index?: SharedIndex
    }
  | { readonly id: number }
  | Failure

/** A message without a request; its number is 0. */
export type IndexerNotice =
  | { readonly id: 0; readonly saved: IndexName & { readonly version: number } }
  /** The index has new segments, which the next `follow` returns. */
  | { readonly id: 0; readonly converted: IndexName }
  | { readonly id: 0; readonly log: string; readonly level: 'info' | 'warn' }

/** Number of candidates that are compared for the links of a new vector. */
const buildBreadth = 128
/** Number of changes that are applied without a pause. */
const changesAtOnce = 500
/** Longest slice of idle work, in milliseconds. */
const sliceMs = 2
/**
 * Starts at a random number, so that a thread that replaces a dead thread has other generations.
 */
let generations = Math.floor(Math.random() * 1_000_000)
/**
 * A snapshot is due when 1 / `snapshotShare` of the vectors, and at least `snapshotMin` vectors,
 * have changed.
 */
const snapshotShare = 5
const snapshotMin = 1000

class FollowedIndex {
  readonly #name: IndexName
  readonly #folder: string
  readonly #options: IndexOptions
  readonly #feed: VectorFeed
  readonly #notify: (notice: IndexerNotice) => void
  #index: VectorIndex
  #conversion: Conversion | undefined
  /** The write up to which the index is complete; -1: it has to be opened or rebuilt. */
  #version = -1
  #savedVersion = -1
  #unsaved = 0
  #saving: Promise<void> | undefined
  readonly #following = new OneByOne()
  #closed = false
  #beginning = ++generations

  constructor(
    name: IndexName,
    options: IndexOptions,
    notify: (notice: IndexerNotice) => void,
  ) {
    this.#name = name
    this.#folder = snapshotFolder(name.file, name.suffix)
    this.#notify = notify
    this.#options = options
    this.#feed = new VectorFeed(name.file, name.suffix)
    this.#index = VectorIndex.create(this.#shapeFor(8))
  }

  #shapeFor(bits: CodeBits): SegmentShape {
    const { dimension, metric, searchers } = this.#options
    const capacity = this.#options.capacity ?? capacityFor(dimension, bits)
    return {
      dimension,
      metric,
      bits,
      capacity,
      breadth: buildBreadth,
      threads: 1 + searchers,
    }
  }

  /** Bits per number of the codes for this number of vectors. */
  #bitsFor(count: number): CodeBits {
    const { memory, dimension } = this.#options
    const bits = codeBits(memory, dimension)
    return count >= shortCodesMin || bits === this.#index.bits ? bits : 8
  }

  get version(): number {
    return this.#version
  }

  /** Changes whenever the list of segments changes. */
  get generation(): number {
    return this.#beginning * 1_000_000 + this.#index.segments.length
  }

  get count(): number {
    return this.#index.count
  }

  get size(): number {
    return this.#index.size
  }

  get shared(): SharedIndex {
    return this.#index.segments.map(({ shared }) => shared)
  }

  /** Applies all changes up to a write. Calls run one after the other. */
  follow(version: number): Promise<void> {
    return this.#following.next(() => this.#followTo(version))
  }

  async #followTo(asked: number): Promise<void> {
    let version = asked
    if (this.#version < 0) {
      await this.#open()
      // The caller does not know of writes before the index was opened.
      version = Math.max(version, this.#feed.state().version)
    }
    while (this.#version < version && !this.#closed) {
      const changes = this.#feed.changesAfter(this.#version, changesAtOnce)
      if (changes === undefined) {
        await this.#rebuild()
        continue
      }
      for (const [document, vector] of changes.vectors) {
        this.#index.put(document, vector)
        this.#conversion?.put(document, vector)
      }
      this.#unsaved += changes.vectors.size
      this.#version = changes.version
      if (!changes.more) return
      await pause()
    }
  }

  async #open(): Promise<void> {
    const { feedStart } = this.#feed.state()
    try {
      const snapshot = loadSnapshot(this.#folder, this.#shapeFor(8))
      // The store records the write of the latest snapshot. A snapshot of another write may contain
      // changes that a power loss has undone.
      if (snapshot?.version === feedStart && snapshot.segments.length > 0) {
        this.#index = VectorIndex.restore(snapshot.segments)
        this.#version = this.#savedVersion = snapshot.version
        return
      }
    } catch (error) {
      this.#warn(`cannot be used, so the index is rebuilt: ${messageOf(error)}`)
    }
    await this.#rebuild()
  }

  async #rebuild(): Promise<void> {
    await this.#saving
    this.#conversion = undefined
    this.#version = -1
    const { version } = this.#feed.state()
    const total = this.#feed.vectorCount()
    this.#index = emptyIndex(this.#shapeFor(this.#bitsFor(total)), this.#feed)
    this.#beginning = ++generations
    const begun = performance.now()
    let done = 0
    let reportedAt = begun
    if (total >= tellMin) this.#say(`is being rebuilt from ${total} vectors`)
    for (let last = 0; !this.#closed;) {
      const rows = this.#feed.vectorsAfter(last, changesAtOnce)
      if (rows.length === 0) break
      for (const [document, vector] of rows) this.#index.put(document, vector)
      last = rows.at(-1)![0]
      done += rows.length
      if (performance.now() - reportedAt > progressMs) {
        reportedAt = performance.now()
        this.#say(`contains ${done} of ${total} vectors`)
      }
      await pause()
    }
    // A rebuild that was interrupted by the close leaves an incomplete index, which must not be
    // used.
    if (this.#closed) return
    if (total >= tellMin)
      this.#say(
        `was rebuilt with ${done} vectors in ${Math.round(performance.now() - begun)} ms`,
      )
    this.#unsaved = done
    this.#version = version
  }

  /** Does a small part of the pending work; false when nothing is left to do. */
  work(): boolean {
    if (this.#closed || this.#saving !== undefined || this.#version < 0) return false
    const isBusy = this.#index.work()
    if (this.#convert() || isBusy) return true
    if (this.#unsaved < Math.max(snapshotMin, this.#index.count / snapshotShare))
      return false
    this.#saving = this.#save().catch((error: unknown) =>
      this.#warn(`could not be saved: ${messageOf(error)}`),
    )
    return false
  }

  /**
   * Does a small part of the conversion to the wanted width of codes. False when the index has this
   * width.
   */
  #convert(): boolean {
    const { bits, count } = this.#index
    const wanted = this.#bitsFor(count)
    if (this.#conversion === undefined && wanted === bits) return false
    this.#conversion ??= new Conversion(this.#shapeFor(wanted), this.#feed)
    if (this.#conversion.work(this.#index.pendingCount)) {
      this.#index = this.#conversion.index
      this.#conversion = undefined
      this.#beginning = ++generations
      this.#unsaved = this.#index.count
      this.#notify({ id: 0, converted: this.#name })
      if (count >= tellMin)
        this.#say(`has codes of ${wanted} bits instead of ${bits} for ${count} vectors`)
    }
    return true
  }

  async #save(): Promise<void> {
    const { segments } = this.#index
    const version = this.#version
    this.#unsaved = 0
    try {
      if (segments.length === 0) dropSnapshot(this.#folder)
      else await saveSnapshot(this.#folder, version, segments)
      this.#savedVersion = version
      this.#notify({ id: 0, saved: { ...this.#name, version } })
    } finally {
      this.#saving = undefined
    }
  }

  /** Closes the index. With `save`, it saves a snapshot first, if there are enough changes. */
  async close(save: boolean): Promise<void> {
    // Work in progress ends at its next pause.
    this.#closed = true
    await this.#following.end()
    await this.#saving
    try {
      if (save && this.#version > this.#savedVersion && this.#unsaved >= snapshotMin)
        await this.#save()
    } catch (error) {
      this.#warn(`could not be saved: ${messageOf(error)}`)
    }
    this.#feed.close()
  }

  #say(what: string): void {
    this.#notify({
      id: 0,
      level: 'info',
      log: `The vector index of ${this.#name.file} ${what}`,
    })
  }

  #warn(problem: string): void {
    this.#notify({
      id: 0,
      level: 'warn',
      log: `The snapshot of the vector index of ${this.#name.file} ${problem}`,
    })
  }
}

/** Minimum number of vectors of a rebuild that is logged: smaller rebuilds are short. */
const tellMin = 5000
/** Minimum time between two log lines about a rebuild, in milliseconds. */
const progressMs = 2000

function serve(port: NonNullable<typeof parentPort>): void {
  const indexes = new Map<string, FollowedIndex>()
  const notify = (notice: IndexerNotice): void => port.postMessage([notice])
  let isWorking = false

  /** Does pending work in small slices, one index after the other. */
  const work = async (): Promise<void> => {
    if (isWorking) return
    isWorking = true
    for (let busy = true; busy;) {
      busy = false
      for (const index of indexes.values()) {
        const end = performance.now() + sliceMs
        while (performance.now() < end && index.work()) busy = true
        await pause()
      }
    }
    isWorking = false
  }

  const answer = async (message: IndexerMessage): Promise<IndexerReply> => {
    const { id } = message
    switch (message.kind) {
      case 'follow': {
        const { name, options } = message
        const key = keyOf(name)
        let index = indexes.get(key)
        if (index === undefined)
          indexes.set(key, (index = new FollowedIndex(name, options, notify)))
        await index.follow(message.version)
        void work()
        const { generation, version, count, size } = index
        const reply = { id, version, generation, count, size }
        return generation === message.generation ? reply : { ...reply, index: index.shared }
      }
      case 'close': {
        const key = keyOf(message.name)
        const index = indexes.get(key)
        indexes.delete(key)
        await index?.close(message.save)
        return { id }
      }
      case 'stop':
        for (const index of indexes.values()) await index.close(true)
        indexes.clear()
        return { id }
    }
  }

  port.on('message', (message: IndexerMessage) => {
    void answer(message)
      .catch((error: unknown) => failureOf(message.id, error))
      .then((reply) => {
        port.postMessage([reply])
        if (message.kind === 'stop') port.close()
      })
  })
}

if (parentPort !== null) {
  collectWhenQuiet()
  serve(parentPort)
}
