/**
 * Damage to one file of a data folder whose server is down: flipped bits, a zeroed page,
 * truncation, removal, or an older copy of the file.
 *
 * Kinds of files and kinds of damage are chosen in random order, each once before any repeats. So
 * each kind occurs equally often, whatever the number and size of its files.
 */
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import type { Random } from '../faults/random.ts'
import { filesIn } from './folders.ts'

export const damageKinds = ['flip', 'zero', 'truncate', 'remove', 'older'] as const

export type DamageKind = (typeof damageKinds)[number]

export interface Damage {
  /** Path inside the data folder. */
  readonly file: string
  readonly fileKind: string
  readonly kind: DamageKind
  /** Description of the change: its position and the previous content. */
  readonly detail: string
}

/** The kind of a file. Files of one kind have the same role and format. */
export function fileKindOf(file: string): string {
  const name = basename(file)
  if (name.endsWith('.graph')) return 'vector graph'
  return name.endsWith('-shm') ? 'shared memory' : name
}

export class Damager {
  readonly #random: Random
  readonly #fileKinds: Deck
  readonly #damageKinds = new Map<string, Deck>()

  constructor(random: Random) {
    this.#random = random
    this.#fileKinds = new Deck(random)
  }

  /** Damages one file of the folder. `copies` are earlier states of the same folder. */
  strike(folder: string, copies: readonly string[]): Damage {
    const files = filesIn(folder)
    const fileKind = this.#fileKinds.deal(new Set(files.map(fileKindOf)))
    const file = this.#pickFile(
      folder,
      files.filter((name) => fileKindOf(name) === fileKind),
    )
    const older = olderCopies(folder, file, copies)
    const deck = this.#damageKinds.get(fileKind) ?? new Deck(this.#random)
    this.#damageKinds.set(fileKind, deck)
    const possible = damageKinds.filter((kind) => kind !== 'older' || older.length > 0)
    const kind = deck.deal(new Set(possible)) as DamageKind
    const detail = this.#apply(kind, join(folder, file), older)
    return { file, fileKind, kind, detail }
  }

  /**
   * Picks a file. Among write-ahead logs, it usually picks one with frames that the database file
   * does not contain, because most logs are already checkpointed.
   */
  #pickFile(folder: string, files: readonly string[]): string {
    const needed = files.filter(
      (file) => file.endsWith('-wal') && isLogNeeded(folder, file),
    )
    return this.#random.pick(needed.length === 0 || this.#random.oneIn(4) ? files : needed)
  }

  #apply(kind: DamageKind, path: string, older: readonly string[]): string {
    const before = readFileSync(path)
    switch (kind) {
      case 'flip':
        return this.#flip(path, before)
      case 'zero':
        return this.#zero(path, before)
      case 'truncate': {
        const size = this.#random.below(before.length)
        truncateSync(path, size)
        return `to ${size} of ${before.length} bytes`
      }
      case 'remove':
        rmSync(path)
        return `${before.length} bytes`
      case 'older': {
        const copy = this.#random.pick(older)
        copyFileSync(copy, path)
        return `${readFileSync(copy).length} bytes replace ${before.length}`
      }
    }
  }

  #flip(path: string, bytes: Buffer): string {
    if (bytes.length === 0) return this.#grow(path)
    const { start, end, what } = aim(path, bytes, this.#random)
    const places = Array.from({ length: 1 + this.#random.below(8) }, () => {
      const place = start + this.#random.below(end - start)
      const bit = this.#random.below(8)
      bytes[place]! ^= 1 << bit
      return `${place}.${bit}`
    })
    // If the same bits were flipped twice, the file is unchanged, so other bits are flipped.
    if (bytes.equals(readFileSync(path))) return this.#flip(path, bytes)
    writeFileSync(path, bytes)
    return `bits ${places.join(', ')} in ${what}`
  }

  /** Zeroes the disk page at the chosen position, or the next page with content. */
  #zero(path: string, bytes: Buffer): string {
    const { start, what } = aim(path, bytes, this.#random)
    const pages = Math.ceil(bytes.length / diskPage)
    const first = Math.floor(start / diskPage)
    for (let i = 0; i < pages; i++) {
      const page = (first + i) % pages
      const content = bytes.subarray(page * diskPage, (page + 1) * diskPage)
      if (content.every((byte) => byte === 0)) continue
      content.fill(0)
      writeFileSync(path, bytes)
      return `page ${page} of ${pages}, aimed at ${what}`
    }
    return this.#grow(path)
  }

  /**
   * Appends bytes to a file that is empty or contains only zeros, because it has nothing to damage.
   */
  #grow(path: string): string {
    writeFileSync(path, this.#random.bytes(64), { flag: 'a' })
    return '64 random bytes appended, since the file had no content'
  }
}

const diskPage = 4_096

function olderCopies(folder: string, file: string, copies: readonly string[]): string[] {
  const now = readFileSync(join(folder, file))
  return copies
    .map((copy) => join(copy, file))
    .filter((path) => existsSync(path) && !readFileSync(path).equals(now))
}

/** Returns each choice once, in random order, before any choice repeats. */
class Deck {
  readonly #random: Random
  #left: string[] = []

  constructor(random: Random) {
    this.#random = random
  }

  deal(choices: ReadonlySet<string>): string {
    let left = this.#left.filter((choice) => choices.has(choice))
    if (left.length === 0) left = [...choices].toSorted()
    const dealt = this.#random.pick(left)
    // Choices that are unavailable now remain for later calls.
    const rest = this.#left.length === 0 ? left : this.#left
    this.#left = rest.filter((choice) => choice !== dealt)
    return dealt
  }
}

interface Region {
  readonly start: number
  readonly end: number
  readonly what: string
}

/** Picks a region of a file, usually a used one: random positions would often hit free pages. */
function aim(path: string, bytes: Buffer, random: Random): Region {
  const anywhere = { start: 0, end: Math.max(1, bytes.length), what: 'the whole file' }
  const regions = path.endsWith('.db')
    ? databaseRegions(bytes)
    : path.endsWith('-wal')
      ? logRegions(bytes)
      : []
  const targets = regions.filter(({ length }) => length > 0)
  if (targets.length === 0 || random.oneIn(4)) {
    const place = random.below(anywhere.end)
    const end = Math.min(anywhere.end, place + neighbourhood)
    return { start: place, end, what: `any bytes, from ${place}` }
  }
  const { start, end, what } = random.pick(random.pick(targets))
  const place = start + random.below(end - start)
  return { start: place, end: Math.min(end, place + neighbourhood), what }
}

/** The largest distance between the flipped bits of one strike, in bytes. */
const neighbourhood = 64

const walHeaderSize = 32
const frameHeaderSize = 24

/** The used regions of a database file. Leaf pages are listed twice, because they hold the rows. */
function databaseRegions(bytes: Buffer): Region[][] {
  if (bytes.length < 100) return []
  const said = bytes.readUInt16BE(16)
  const pageSize = said === 1 ? 65_536 : said
  if (pageSize < 512) return []
  const leaves: Region[] = []
  const inner: Region[] = []
  for (let start = 0; start + pageSize <= bytes.length; start += pageSize) {
    const header = start === 0 ? 100 : start
    const type = bytes[header]!
    const cells = bytes.readUInt16BE(header + 3)
    const content = start + bytes.readUInt16BE(header + 5)
    const end = start + pageSize
    if (cells === 0 || content <= header || content >= end) continue
    const number = start / pageSize + 1
    if (type === 0x0d || type === 0x0a)
      leaves.push({ start: content, end, what: `cells of leaf page ${number}` })
    if (type === 0x0d || type === 0x0a || type === 0x05 || type === 0x02)
      inner.push({
        start: header,
        end: header + 12 + 2 * cells,
        what: `header and pointers of page ${number}`,
      })
  }
  return [leaves, leaves, inner, [{ start: 0, end: 100, what: 'the header' }]]
}

/** Whether a write-ahead log has pages that its database file does not contain. */
function isLogNeeded(folder: string, file: string): boolean {
  const log = readFileSync(join(folder, file))
  const database = readFileSync(join(folder, file.slice(0, -'-wal'.length)))
  const latest = new Map<number, Buffer>()
  for (const { start, end } of framesOf(log))
    latest.set(log.readUInt32BE(start), log.subarray(start + frameHeaderSize, end))
  return [...latest].some(([page, content]) => {
    const start = (page - 1) * content.length
    return !database.subarray(start, start + content.length).equals(content)
  })
}

function logRegions(bytes: Buffer): Region[][] {
  const frames = framesOf(bytes)
  if (frames.length === 0) return []
  const header = { start: 0, end: walHeaderSize, what: "the log's header" }
  return [frames, frames, [header]]
}

/**
 * Regions of the frames of the current log. The file may have frames of an earlier log at its end.
 */
function framesOf(bytes: Buffer): Region[] {
  if (bytes.length < walHeaderSize) return []
  const frameSize = frameHeaderSize + bytes.readUInt32BE(8)
  const salts = bytes.subarray(16, 24)
  const starts: number[] = []
  for (let at = walHeaderSize; at + frameSize <= bytes.length; at += frameSize) {
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break
    starts.push(at)
  }
  return starts.map((start, i) => ({
    start,
    end: start + frameSize,
    what: `frame ${i + 1} of ${starts.length} of the log`,
  }))
}
