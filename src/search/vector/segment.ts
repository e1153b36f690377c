/**
 * One graph in one WebAssembly memory. This class wraps the kernel (kernel/) for TypeScript. The
 * memory is shared: one thread modifies the graph and others search it, each through its own
 * Segment.
 */
import { readFileSync } from 'node:fs'
import type { CodeBits } from './code-width.ts'
import type { Metric } from './similarity.ts'

/** Properties of a segment that never change. */
export interface SegmentShape {
  readonly dimension: number
  readonly metric: Metric
  /** Bits per number of a code. */
  readonly bits: CodeBits
  /** Maximum number of vectors. */
  readonly capacity: number
  /** Candidates that are considered for the links of a new vector. */
  readonly breadth: number
  /** Number of threads; the first one writes. */
  readonly threads: number
}

/** A segment in the form that is passed between threads. */
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
    bits: number,
  ): number
  setCenter(): void
  centerAddress(): number
  centerSize(): number
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
/** WebAssembly's limit: 4 GiB. */
const pagesMax = 65_536
/** Documents that the kernel scans at a time. */
const numbersMax = 16_384
/** Maximum results of a search. */
export const foundMax = 16_384

/** Pairs of document number and distance, closest first. */
export type FoundDocuments = Float64Array

/** Number of vectors that fit into one memory, besides the scratch memory of the threads. */
export function capacityFor(dimension: number, bits: CodeBits): number {
  const nodeSize = Math.ceil((dimension * bits) / 128) * 16 + 160
  return Math.min(Math.floor(3_400_000_000 / ((nodeSize + 63) & ~63)), 4_194_304)
}

/** Whether a document matches the filter of a search. */
export type DocumentTest = (document: number) => boolean

export class Segment {
  readonly shape: SegmentShape
  readonly memory: WebAssembly.Memory
  readonly #kernel: Kernel
  /** Filter of the current search. */
  #matches: DocumentTest = () => true

  /** `center`: what short codes are relative to; the nearer to the mean, the better. */
  static create(shape: SegmentShape, center?: Float32Array): Segment {
    // A trial instance determines how many bytes of memory precede the first node.
    const { dimension, metric, capacity, breadth, threads, bits } = shape
    const create = (segment: Segment): number =>
      segment.#kernel.create(dimension, metrics[metric], capacity, breadth, threads, bits)
    const start = create(new Segment(shape, newMemory(1), undefined))
    const memory = newMemory(Math.ceil(start / pageSize) + 1)
    const segment = new Segment(shape, memory, undefined)
    create(segment)
    if (center !== undefined) {
      segment.#setInput(center)
      segment.#kernel.setCenter()
    }
    return segment
  }

  /** Attaches to a segment as one of its searching threads. */
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

  /** Number of vectors that can be found. */
  get liveCount(): number {
    return this.#kernel.liveCount()
  }

  /** Number of vectors outside of the graph, which only scans find. */
  get pendingCount(): number {
    return this.#kernel.pendingCount()
  }

  /** Number of removed vectors that are still part of the graph. */
  get deletedCount(): number {
    return this.#kernel.deletedCount()
  }

  get isRepairing(): boolean {
    return this.#kernel.isRepairing() !== 0
  }

  /**
   * Number of times that a node was taken. It changes with every added vector, which may reuse a
   * node.
   */
  get takenCount(): number {
    return this.#kernel.takenCount()
  }

  /** A copy of the center of short codes. */
  get center(): Float32Array {
    const kernel = this.#kernel
    const { buffer } = this.memory
    const length = kernel.centerSize() / Float32Array.BYTES_PER_ELEMENT
    return new Float32Array(buffer, kernel.centerAddress(), length).slice()
  }

  /** Bytes in use for vectors and links. */
  get size(): number {
    const kernel = this.#kernel
    // Each node takes 12 bytes in `places` and `pending`.
    return kernel.count() * (kernel.nodeBytes() + 12) + kernel.upperBytes()
  }

  /** Adds a vector for a document. False if the segment is full. */
  add(document: number, vector: Float32Array): boolean {
    this.#setInput(vector)
    return this.#kernel.add(document) !== 0
  }

  /** Removes a vector. False if the document has no vector in this segment. */
  remove(document: number): boolean {
    return this.#kernel.remove(document) !== 0
  }

  has(document: number): boolean {
    return this.#kernel.has(document) !== 0
  }

  /** Links one pending vector into the graph; false if no vector is pending. */
  linkNext(): boolean {
    return this.#kernel.linkNext() !== 0
  }

  /** Repairs a part of the graph after removals; false when nothing is left to repair. */
  repair(nodes: number): boolean {
    return this.#kernel.repair(nodes) !== 0
  }

  /**
   * Documents closest to the query by their codes, at most `breadth`. `matches` filters them; it is
   * called once per document until `forget`.
   */
  search(query: Float32Array, breadth: number, matches?: DocumentTest): FoundDocuments {
    this.#begin(query, matches)
    this.#kernel.search(Math.min(breadth, foundMax), matches !== undefined)
    return this.#found()
  }

  /** Like `search`, but compares every vector. */
  scanAll(query: Float32Array, count: number, matches?: DocumentTest): FoundDocuments {
    this.#begin(query, matches)
    this.#kernel.scanAll(Math.min(count, foundMax), matches !== undefined)
    return this.#found()
  }

  /** Like `search`, but compares the given documents only. */
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

  /** Forgets which documents match, so that the next search tests them again. */
  forget(): void {
    this.#kernel.forget()
  }

  /**
   * The parts of the memory to save. Until `thaw`, vectors may be added and removed, but not linked
   * or repaired.
   */
  freeze(): readonly Uint8Array[] {
    this.#kernel.freeze(true)
    const [header, ...rest] = this.#parts()
    // The header is copied, because it changes with every added vector; the other parts do not
    // change.
    return [header!.slice(), ...rest]
  }

  thaw(): void {
    this.#kernel.freeze(false)
  }

  /**
   * Restores a saved segment. `read` fills the parts one after the other; the first determines the
   * size of the others. Undefined if the parts are inconsistent.
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
    for (const part of segment.#parts().slice(1)) read(part)
    return segment.#kernel.restore() === 0 ? undefined : segment
  }

  #parts(): readonly Uint8Array[] {
    const kernel = this.#kernel
    const { buffer } = this.memory
    return [
      new Uint8Array(buffer, kernel.headerAddress(), kernel.headerBytes()),
      new Uint8Array(buffer, kernel.centerAddress(), kernel.centerSize()),
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

/** Compiled kernel; created when the package is installed, and by `npm run build`. */
export const kernelFile = new URL('../../../build/vector-kernel.wasm', import.meta.url)

let compiled: WebAssembly.Module | undefined

function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readFileSync(kernelFile))
  return compiled
}
