/**
 * One graph in one WebAssembly memory. The kernel (kernel/) does the work; here it gets a
 * TypeScript face. A memory is shared: one thread changes the graph, others search it, each
 * through a Segment of its own.
 */
import { readFileSync } from 'node:fs'
import type { Metric } from './similarity.ts'

/** What a segment is for its whole life. */
export interface SegmentShape {
  readonly dimension: number
  readonly metric: Metric
  /** Vectors that it holds at most. */
  readonly capacity: number
  /** Candidates that are looked at for the links of a new vector. */
  readonly breadth: number
  /** Threads that work on it: the first one writes. */
  readonly threads: number
}

/** A segment as it goes from one thread to another. */
export interface SharedSegment {
  readonly shape: SegmentShape
  readonly memory: WebAssembly.Memory
}

interface Kernel {
  create(
    dimension: number,
    metric: number,
    capacity: number,
    breadth: number,
    threads: number,
  ): number
  attach(thread: number, threads: number): void
  headerAddress(): number
  headerBytes(): number
  inputAddress(): number
  numbersAddress(): number
  nodesAddress(): number
  upperAddress(): number
  nodeBytes(): number
  upperBytes(): number
  count(): number
  liveCount(): number
  deletedCount(): number
  isRepairing(): number
  takenCount(): number
  pendingCount(): number
  add(document: number): number
  remove(document: number): number
  has(document: number): number
  linkNext(): number
  repair(most: number): number
  freeze(frozen: boolean): void
  restore(): number
  prepare(): void
  forget(): void
  search(breadth: number, filtered: boolean): void
  scanAll(breadth: number, filtered: boolean): void
  begin(): void
  scan(count: number, breadth: number): void
  finish(): number
}

const metrics: Readonly<Record<Metric, number>> = {
  cosine: 0,
  dot_product: 1,
  euclidean: 2,
}

const pageSize = 65_536
/** WebAssembly's own limit: four gigabytes. */
const pagesMax = 65_536
/** Documents that the kernel takes at a time. */
const numbersMax = 16_384
/** Documents that a search can find. */
export const foundMax = 16_384

/** Documents that a search found, nearest first, each with its distance behind it. */
export type FoundDocuments = Float64Array

/** How many vectors a memory has room for, beside what the threads need for themselves. */
export function capacityFor(dimension: number): number {
  const nodeSize = (Math.ceil(dimension / 16) * 16 + 160 + 63) & ~63
  return Math.min(Math.floor(3_400_000_000 / nodeSize), 4_194_304)
}

/** Whether a document is one of those that are searched. */
export type DocumentTest = (document: number) => boolean

export class Segment {
  readonly shape: SegmentShape
  readonly memory: WebAssembly.Memory
  readonly #kernel: Kernel
  /** Answers for the documents of a filtered search whether they match. */
  #matches: DocumentTest = () => true

  static create(shape: SegmentShape): Segment {
    // A trial in no memory of its own says how much comes before the first node.
    const { dimension, metric, capacity, breadth, threads } = shape
    const trial = new Segment(shape, newMemory(1), undefined)
    const start = trial.#kernel.create(
      dimension,
      metrics[metric],
      capacity,
      breadth,
      threads,
    )
    const segment = new Segment(
      shape,
      newMemory(Math.ceil(start / pageSize) + 1),
      undefined,
    )
    segment.#kernel.create(dimension, metrics[metric], capacity, breadth, threads)
    return segment
  }

  /** Joins in as one of the threads that search. */
  static attach({ shape, memory }: SharedSegment, thread: number): Segment {
    return new Segment(shape, memory, thread)
  }

  private constructor(
    shape: SegmentShape,
    memory: WebAssembly.Memory,
    thread: number | undefined,
  ) {
    this.shape = shape
    this.memory = memory
    const instance = new WebAssembly.Instance(kernelModule(), {
      env: { memory },
      host: { matches: (document: number) => (this.#matches(document) ? 1 : 0) },
    })
    this.#kernel = instance.exports as unknown as Kernel
    if (thread !== undefined) this.#kernel.attach(thread, shape.threads)
  }

  get shared(): SharedSegment {
    return { shape: this.shape, memory: this.memory }
  }

  /** Vectors that can be found. */
  get liveCount(): number {
    return this.#kernel.liveCount()
  }

  /** Vectors that are found by scanning, because they are not in the graph yet. */
  get pendingCount(): number {
    return this.#kernel.pendingCount()
  }

  /** Vectors that were removed, and still stand in the graph. */
  get deletedCount(): number {
    return this.#kernel.deletedCount()
  }

  /** Whether a repair has begun and not ended. */
  get isRepairing(): boolean {
    return this.#kernel.isRepairing() !== 0
  }

  /** Another number whenever a vector was added: places may have been used again. */
  get takenCount(): number {
    return this.#kernel.takenCount()
  }

  /** Bytes in use for vectors and their links. */
  get size(): number {
    const kernel = this.#kernel
    // Places and pending vectors take twelve bytes each beside the node.
    return kernel.count() * (kernel.nodeBytes() + 12) + kernel.upperBytes()
  }

  /** False when there is no room. The document must have no vector here. */
  add(document: number, vector: Float32Array): boolean {
    this.#setInput(vector)
    return this.#kernel.add(document) !== 0
  }

  /** False when the document has no vector here. */
  remove(document: number): boolean {
    return this.#kernel.remove(document) !== 0
  }

  has(document: number): boolean {
    return this.#kernel.has(document) !== 0
  }

  /** Takes one pending vector into the graph; false when there is none. */
  linkNext(): boolean {
    return this.#kernel.linkNext() !== 0
  }

  /** Mends some of the graph where vectors were removed; false when all is done. */
  repair(nodes: number): boolean {
    return this.#kernel.repair(nodes) !== 0
  }

  /**
   * The documents nearest to the query by their codes, as many as the walk is broad; only
   * those that match, if that is asked. It is asked about each once, until `forget`.
   */
  search(query: Float32Array, breadth: number, matches?: DocumentTest): FoundDocuments {
    this.#begin(query, matches)
    this.#kernel.search(Math.min(breadth, foundMax), matches !== undefined)
    return this.#found()
  }

  /** As `search`, by looking at every vector. */
  scanAll(query: Float32Array, count: number, matches?: DocumentTest): FoundDocuments {
    this.#begin(query, matches)
    this.#kernel.scanAll(Math.min(count, foundMax), matches !== undefined)
    return this.#found()
  }

  /** As `search`, among some documents. */
  scan(query: Float32Array, count: number, documents: Float64Array): FoundDocuments {
    this.#begin(query)
    this.#kernel.begin()
    for (let at = 0; at < documents.length; at += numbersMax) {
      const part = documents.subarray(at, at + numbersMax)
      this.#numbers(part.length).set(part)
      this.#kernel.scan(part.length, Math.min(count, foundMax))
    }
    return this.#found()
  }

  /** Forgets which documents match: those of the next search are asked again. */
  forget(): void {
    this.#kernel.forget()
  }

  /**
   * The parts of the memory that make up the graph, to be saved. Until `thaw`, vectors may be
   * added and removed, but not linked, and nothing mended.
   */
  freeze(): readonly Uint8Array[] {
    this.#kernel.freeze(true)
    const [header, ...rest] = this.#parts()
    // The header changes with every vector that is added; the rest stays.
    return [header!.slice(), ...rest]
  }

  thaw(): void {
    this.#kernel.freeze(false)
  }

  /**
   * Puts back what was saved. `read` fills the parts one after the other: the first says how
   * large the others are. Undefined when the parts contradict each other.
   */
  static restore(
    shape: SegmentShape,
    read: (part: Uint8Array) => void,
  ): Segment | undefined {
    const segment = Segment.create(shape)
    const [header] = segment.#parts()
    read(header!)
    const nodesEnd =
      segment.#kernel.nodesAddress() + segment.#kernel.count() * segment.#kernel.nodeBytes()
    if (segment.#kernel.count() > shape.capacity) return undefined
    const missing =
      Math.ceil(nodesEnd / pageSize) - segment.memory.buffer.byteLength / pageSize
    if (missing > 0) segment.memory.grow(missing)
    const [, upper, nodes] = segment.#parts()
    read(upper!)
    read(nodes!)
    return segment.#kernel.restore() === 0 ? undefined : segment
  }

  #parts(): readonly Uint8Array[] {
    const kernel = this.#kernel
    const { buffer } = this.memory
    return [
      new Uint8Array(buffer, kernel.headerAddress(), kernel.headerBytes()),
      new Uint8Array(buffer, kernel.upperAddress(), kernel.upperBytes()),
      new Uint8Array(buffer, kernel.nodesAddress(), kernel.count() * kernel.nodeBytes()),
    ]
  }

  #begin(query: Float32Array, matches?: DocumentTest): void {
    if (matches !== undefined) this.#matches = matches
    this.#setInput(query)
    this.#kernel.prepare()
  }

  #setInput(vector: Float32Array): void {
    new Float32Array(this.memory.buffer, this.#kernel.inputAddress(), vector.length).set(
      vector,
    )
  }

  #found(): FoundDocuments {
    return this.#numbers(2 * this.#kernel.finish()).slice()
  }

  #numbers(count: number): Float64Array {
    return new Float64Array(this.memory.buffer, this.#kernel.numbersAddress(), count)
  }
}

function newMemory(pages: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: pagesMax, shared: true })
}

/** What the kernel is compiled to, when the package is installed or `npm run build` runs. */
export const kernelFile = new URL('../../../build/vector-kernel.wasm', import.meta.url)

let compiled: WebAssembly.Module | undefined

function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readFileSync(kernelFile))
  return compiled
}
