/**
 * Inspects the write-ahead log of a SQLite file without SQLite, which discards everything from the
 * first invalid frame on and reports nothing.
 *
 *   header, 32 bytes   magic, format, page size, checkpoint sequence, two salts, checksum
 *   frame, 24 bytes    page number, size of the file after a commit or 0, two salts, checksum
 *   page               follows each frame header
 *
 * Numbers are big-endian. A frame's checksum continues the checksum of the previous frame. The
 * magic number determines the byte order of the words that the checksums add up. When SQLite
 * restarts a log from its beginning, it writes new salts, so frames of the previous generation may
 * follow the last frame of the current generation.
 *
 * SQLite appends the frames of a transaction in order, the commit frame last. So an invalid frame
 * with no commit frame of its generation after it is the tail of an unfinished or rolled-back
 * transaction. A commit frame after an invalid frame is a transaction that was committed and can no
 * longer be read. The one exception: a power cut may persist the pages of an unsynced transaction
 * out of order, and such a tail looks like damage.
 *
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'
import { basename } from 'node:path'

export type LogState =
  | { readonly kind: 'absent' }
  /** No frame was written since the log was created or truncated. */
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'sound'
      /** Number of valid frames up to and including the last commit. */
      readonly frames: number
      readonly commits: number
      /** Number of valid frames after the last commit: an unfinished transaction. */
      readonly uncommitted: number
    }
  | {
      readonly kind: 'damaged'
      /** The first invalid frame, counted from 1; 0 for the header. */
      readonly frame: number
      /** Number of commits before that frame, which SQLite recovers. */
      readonly commits: number
      /** Number of commits after that frame, which SQLite discards. */
      readonly lost: number
    }

const headerSize = 32
const frameHeaderSize = 24
const format = 3_007_000
/** First number of a log. Its lowest bit is set when checksums add up big-endian words. */
const magic = 0x377f0682
const pageSizeMin = 512
const pageSizeMax = 65_536
/** Approximate number of bytes per read. */
const chunkSize = 4 * 1024 * 1024

/** Inspects the log of a database file: the path `file` with "-wal" appended. */
export function inspectLog(file: string): LogState {
  let handle
  try {
    handle = openSync(`${file}-wal`, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'absent' }
    throw error
  }
  try {
    const header = Buffer.from(new ArrayBuffer(headerSize))
    if (readFully(handle, header, 0) < headerSize) return { kind: 'empty' }
    const seed = readSeed(header)
    return seed === undefined
      ? inspectWithoutHeader(handle, pageSizeOf(file))
      : inspectFrames(handle, seed)
  } finally {
    closeSync(handle)
  }
}

/** Describes a damaged log and what is lost; undefined when it is not damaged. */
export function describeLogDamage(file: string): string | undefined {
  const state = inspectLog(file)
  if (state.kind !== 'damaged') return undefined
  const { frame, commits, lost } = state
  const name = `${basename(file)}-wal`
  return frame === 0
    ? `${name} has a damaged header: opening the file discards all of its committed transactions (${lost})`
    : `${name} is damaged at frame ${frame}: opening the file discards the ` +
        `${transactions(lost)} after it and keeps the ${transactions(commits)} before it`
}

function transactions(count: number): string {
  return count === 1 ? '1 committed transaction' : `${count} committed transactions`
}

/** Page size, salts and initial checksum from the header. */
interface Seed {
  readonly pageSize: number
  readonly salts: Buffer
  readonly sum: Checksum
}

/** Reads the header of a log; undefined when it is damaged. */
function readSeed(header: Buffer): Seed | undefined {
  const found = header.readUInt32BE(0)
  const pageSize = header.readUInt32BE(8)
  if ((found & ~1) >>> 0 !== magic || header.readUInt32BE(4) !== format) return undefined
  if (!isPageSize(pageSize)) return undefined
  const sum = new Checksum(endianness() !== ((found & 1) === 1 ? 'BE' : 'LE'))
  sum.add(header, 0, 24)
  const [first, second] = sumsAt(header, 24)
  if (sum.sums[0] !== first || sum.sums[1] !== second) return undefined
  return { pageSize, salts: header.subarray(16, 24), sum }
}

function isPageSize(size: number): boolean {
  return size >= pageSizeMin && size <= pageSizeMax && (size & (size - 1)) === 0
}

function inspectFrames(handle: number, { pageSize, salts, sum }: Seed): LogState {
  let number = 0
  let frames = 0
  let commits = 0
  let valid = 0
  let broken: number | undefined
  let lost = 0
  /** Candidates for the sums that the next frame continues. */
  let seeds: readonly Sums[] = []
  for (const frame of framesIn(handle, pageSize)) {
    number++
    const isOfLog = salts.compare(frame.bytes, frame.start + 8, frame.start + 16) === 0
    const isCommit = frame.bytes.readUInt32BE(frame.start + 4) !== 0
    if (broken !== undefined) {
      if (isOfLog && isCommit && !isRolledBack(frame, seeds, sum)) lost++
      seeds = isOfLog ? [storedSums(frame)] : []
    } else if (isValid(frame, sum) && isOfLog) {
      valid = number
      if (!isCommit) continue
      frames = number
      commits++
    } else {
      broken = number
      // The next frame continues the stored checksum or, when only that checksum is damaged, the
      // computed checksum.
      seeds = isOfLog ? [storedSums(frame), sum.sums] : []
    }
  }
  if (broken !== undefined && lost > 0)
    return { kind: 'damaged', frame: broken, commits, lost }
  if (number === 0) return { kind: 'empty' }
  return { kind: 'sound', frames, commits, uncommitted: valid - frames }
}

/**
 * Whether flipped bits have turned a frame of an unfinished transaction into a commit frame. The
 * checksum of such a frame is valid for the size 0.
 */
function isRolledBack(frame: Frame, seeds: readonly Sums[], sum: Checksum): boolean {
  const { bytes, start } = frame
  const size = bytes.readUInt32BE(start + 4)
  bytes.writeUInt32BE(0, start + 4)
  const isRight = seeds.some((seed) => isValid(frame, sum.from(seed)))
  bytes.writeUInt32BE(size, start + 4)
  return isRight
}

/** Adds the frame to the checksum and compares the result with the stored checksum. */
function isValid(frame: Frame, sum: Checksum): boolean {
  const { bytes, start, end } = frame
  sum.add(bytes, start, start + 8)
  sum.add(bytes, start + frameHeaderSize, end)
  const [first, second] = storedSums(frame)
  // Pages are numbered from 1.
  return sum.sums[0] === first && sum.sums[1] === second && bytes.readUInt32BE(start) !== 0
}

function storedSums({ bytes, start }: Frame): Sums {
  return sumsAt(bytes, start + 16)
}

/**
 * Inspects a log without a valid header. SQLite discards all frames of such a log. The salts of the
 * first frame identify the generation.
 */
function inspectWithoutHeader(handle: number, pageSize: number | undefined): LogState {
  const damaged = { kind: 'damaged', frame: 0, commits: 0, lost: 0 } as const
  if (pageSize === undefined) return damaged
  let lost = 0
  let salts: Buffer | undefined
  for (const { bytes, start } of framesIn(handle, pageSize)) {
    salts ??= Buffer.from(bytes.subarray(start + 8, start + 16))
    const isOfLog = salts.compare(bytes, start + 8, start + 16) === 0
    if (isOfLog && bytes.readUInt32BE(start + 4) !== 0) lost++
  }
  return lost === 0 ? { kind: 'empty' } : { ...damaged, lost }
}

/** The page size in the header of the database; undefined when that header is not valid either. */
function pageSizeOf(file: string): number | undefined {
  const header = Buffer.alloc(headerSize)
  const handle = openSync(file, 'r')
  try {
    if (readFully(handle, header, 0) < headerSize) return undefined
  } finally {
    closeSync(handle)
  }
  const size = header.readUInt16BE(16)
  const pageSize = size === 1 ? pageSizeMax : size
  return isPageSize(pageSize) ? pageSize : undefined
}

interface Frame {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** All complete frames. The bytes of a frame are valid until the next one is requested. */
function* framesIn(handle: number, pageSize: number): Generator<Frame> {
  const frameSize = frameHeaderSize + pageSize
  const atOnce = Math.max(1, Math.floor(chunkSize / frameSize))
  const bytes = Buffer.from(new ArrayBuffer(atOnce * frameSize))
  for (let position = headerSize; ; position += bytes.length) {
    const count = Math.floor(readFully(handle, bytes, position) / frameSize)
    for (let i = 0; i < count; i++)
      yield { bytes, start: i * frameSize, end: (i + 1) * frameSize }
    if (count < atOnce) return
  }
}

/** Fills a buffer from a position of a file; returns the number of bytes read. */
function readFully(handle: number, bytes: Buffer, position: number): number {
  let size = 0
  while (size < bytes.length) {
    const count = readSync(handle, bytes, size, bytes.length - size, position + size)
    if (count === 0) break
    size += count
  }
  return size
}

type Sums = readonly [first: number, second: number]

function sumsAt(bytes: Buffer, position: number): Sums {
  return [bytes.readInt32BE(position), bytes.readInt32BE(position + 4)]
}

/** SQLite's running checksum of a log: two sums of 32 bits over pairs of words. */
class Checksum {
  readonly #isSwapped: boolean
  #sums: Sums

  constructor(isSwapped: boolean, sums: Sums = [0, 0]) {
    this.#isSwapped = isSwapped
    this.#sums = sums
  }

  get sums(): Sums {
    return this.#sums
  }

  /** A checksum that continues other sums in the same byte order. */
  from(sums: Sums): Checksum {
    return new Checksum(this.#isSwapped, sums)
  }

  /**
   * Adds the bytes from `start` to `end`, a multiple of 8. The buffer must be aligned to 4
   * bytes.
   */
  add(bytes: Buffer, start: number, end: number): void {
    const count = (end - start) >> 2
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, count)
    let [first, second] = this.#sums
    if (this.#isSwapped)
      for (let i = 0; i < count; i += 2) {
        first = (first + swapped(words[i]!) + second) | 0
        second = (second + swapped(words[i + 1]!) + first) | 0
      }
    else
      for (let i = 0; i < count; i += 2) {
        first = (first + words[i]! + second) | 0
        second = (second + words[i + 1]! + first) | 0
      }
    this.#sums = [first, second]
  }
}

function swapped(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
}
