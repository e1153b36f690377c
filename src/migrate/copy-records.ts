/**
 * Copies records from one store to another. A record that already exists is compared and not
 * overwritten, so an interrupted copy can be repeated.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { EngineError } from '../engine/errors.ts'
import { Checksum, type ChecksumTotal } from './checksum.ts'
import { passing, type RecordSet } from './record-set.ts'

export interface CopyReport {
  /** Count and checksum of the source records. */
  readonly source: ChecksumTotal
  readonly moved: number
  /** Number of records that already existed and are equal. */
  readonly present: number
  readonly differing: Examples
  /** Records that the destination rejected. */
  readonly refused: Examples
}

/** A count of records, and the keys of some of them. */
export interface Examples {
  readonly count: number
  readonly some: readonly string[]
}

const someMax = 5

/** Delays in milliseconds before retries of a write that failed temporarily. */
const pauses = [500, 1_000, 2_000, 4_000, 8_000]

/**
 * Copies all records. `progress` is called with the number of records that were processed so far:
 * copied, equal, differing or rejected.
 */
export async function copyRecords<R>(
  from: RecordSet<R>,
  to: RecordSet<R>,
  progress: (count: number) => void,
): Promise<CopyReport> {
  const checksum = new Checksum()
  const differing = new ExampleList()
  const refused = new ExampleList()
  let moved = 0
  let present = 0
  const compare = async (records: readonly R[]): Promise<readonly R[]> => {
    const found = await to.find(records)
    return records.filter((record) => {
      const there = found.get(to.keyOf(record))
      if (there === undefined) return true
      if (from.canonical(record) === to.canonical(there)) present++
      else differing.add(to.keyOf(record))
      return false
    })
  }
  const isNew = await isEmpty(to)
  for await (const page of ahead(from.pages())) {
    for (const record of page) checksum.add(from.canonical(record))
    const missing = isNew ? page : await compare(page)
    const { done, there } = await insertAll(to, missing, refused)
    moved += done
    const lost = there.length === 0 ? [] : await compare(there)
    if (lost.length > 0)
      throw new EngineError(
        'changed',
        'other clients delete records of the destination. Stop them',
      )
    progress(moved + present + differing.count + refused.count)
  }
  return { source: checksum.result, moved, present, differing, refused }
}

/** Computes count and checksum of all records. */
export async function checksumOf<R>(records: RecordSet<R>): Promise<ChecksumTotal> {
  const checksum = new Checksum()
  for await (const page of ahead(records.pages()))
    for (const record of page) checksum.add(records.canonical(record))
  return checksum.result
}

class ExampleList implements Examples {
  count = 0
  readonly some: string[] = []

  add(example: string): void {
    this.count++
    if (this.some.length < someMax) this.some.push(example)
  }
}

async function isEmpty<R>(records: RecordSet<R>): Promise<boolean> {
  for await (const page of records.pages()) if (page.length > 0) return false
  return true
}

interface Inserted<R> {
  readonly done: number
  /** Records whose keys already exist at the destination. */
  readonly there: readonly R[]
}

async function insertAll<R>(
  to: RecordSet<R>,
  records: readonly R[],
  refused: ExampleList,
): Promise<Inserted<R>> {
  if (records.length === 0) return { done: 0, there: [] }
  try {
    const outcomes = await patiently(() => to.insert(records))
    const there = records.filter((_, position) => outcomes[position] === 'exists')
    return { done: records.length - there.length, there }
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (records.length === 1) {
      refused.add(`${to.keyOf(records[0]!)}: ${error.message}`)
      return { done: 0, there: [] }
    }
  }
  // The destination rejects at least one record. Halving the batch isolates rejected records and
  // writes all others.
  const half = Math.ceil(records.length / 2)
  const first = await insertAll(to, records.slice(0, half), refused)
  const second = await insertAll(to, records.slice(half), refused)
  return { done: first.done + second.done, there: [...first.there, ...second.there] }
}

/**
 * Whether the store rejects the record itself. Other errors may be temporary states of the store.
 */
function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && error.kind === 'unsupported'
}

async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (const pause of pauses)
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof EngineError && passing.has(error.kind))) throw error
      await delay(pause)
    }
  return act()
}

/** Reads the next page while the current one is processed. */
async function* ahead<R>(pages: AsyncIterable<readonly R[]>): AsyncGenerator<readonly R[]> {
  const iterator = pages[Symbol.asyncIterator]()
  const next = () => {
    const read = iterator.next()
    // Prevents an unhandled rejection. The caller handles the rejection when it awaits the promise.
    read.catch(() => undefined)
    return read
  }
  try {
    for (let reading = next(); ;) {
      const read = await reading
      if (read.done === true) return
      reading = next()
      yield read.value
    }
  } finally {
    await iterator.return?.().catch(() => undefined)
  }
}
