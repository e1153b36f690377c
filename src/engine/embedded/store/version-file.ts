/**
 * `store.version` beside a store: the version of the latest committed write.
 *
 * It is written after each commit and not synced, so after a crash or a power loss it is never
 * ahead of the store, except with `--durability relaxed`, which does not sync writes either. A
 * store that is behind it has lost acknowledged writes: its log is damaged or missing, or the file
 * is an older copy.
 *
 *   0  magic "STLV"     4  CRC-32 of the rest     8  version
 *  16  size and modification time (ms) of store.db when all connections were closed; 0 while
 *      any may be open. All numbers are little-endian doubles.
 */
import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { privateFileMode } from '../../private-files.ts'
import { isBeingWritten, openUnshared } from './layout.ts'

const versionFile = 'store.version'
const magic = 'STLV'
const fileSize = 32

export class VersionFile {
  #handle: number | undefined
  readonly #bytes = Buffer.alloc(fileSize)

  /**
   * Opens the version file. An error is ignored: the file only serves to detect lost writes, and
   * contains no data.
   */
  constructor(storeFile: string) {
    try {
      this.#handle = open(pathOf(storeFile))
    } catch {
      this.#handle = undefined
    }
  }

  /** Records a committed version. */
  note(version: number): void {
    this.#write(encode(this.#bytes, { version, size: 0, modified: 0 }))
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }

  #write(bytes: Buffer): void {
    if (this.#handle === undefined) return
    try {
      writeSync(this.#handle, bytes, 0, bytes.length, 0)
    } catch {
      this.close()
    }
  }
}

interface Recorded {
  readonly version: number
  readonly size: number
  readonly modified: number
}

/** The recorded version of a store; undefined when its version file is missing or damaged. */
export function recordedVersion(storeFile: string): number | undefined {
  return read(storeFile)?.version
}

/**
 * Records that a store is closed. Must be called when no connection to it is open. While the store
 * stays unchanged, its version is known without opening it.
 */
export function markClosed(storeFile: string): void {
  const recorded = read(storeFile)
  const found = statOfClosed(storeFile)
  if (recorded === undefined || found === undefined || isAsClosed(recorded, found)) return
  try {
    const handle = open(pathOf(storeFile))
    try {
      const marked = { version: recorded.version, ...found }
      writeSync(handle, encode(Buffer.alloc(fileSize), marked), 0, fileSize, 0)
    } finally {
      closeSync(handle)
    }
  } catch {
    // A failure is ignored: the next start opens the store to read its version.
  }
}

export interface LostWrites {
  /** Version of the store, and the later version that was recorded. */
  readonly version: number
  readonly recorded: number
}

/**
 * Acknowledged writes that a store has lost; undefined when no loss is known. `known` is a version
 * recorded by another file. Opens the store only if it may have changed since it was closed.
 */
export function findLostWrites(storeFile: string, known = 0): LostWrites | undefined {
  const own = read(storeFile)
  const recorded = Math.max(known, own?.version ?? 0)
  const closed = own && statOfClosed(storeFile)
  const isUnchanged = closed !== undefined && isAsClosed(own!, closed)
  if (recorded === 0) return undefined
  const version = isUnchanged ? own!.version : storeVersion(storeFile)
  return version === undefined || version >= recorded ? undefined : { version, recorded }
}

/** Message for the log and for `stela check`. */
export function describeLostWrites({ version, recorded }: LostWrites): string {
  const count = recorded - version
  return (
    `${count === 1 ? 'an acknowledged write is' : `${count} acknowledged writes are`} ` +
    `lost: the store is at version ${version}, but version ${recorded} was recorded`
  )
}

function pathOf(storeFile: string): string {
  return join(dirname(storeFile), versionFile)
}

/**
 * Opens a version file, or creates it. A symbolic link in its place is removed and not followed.
 */
function open(path: string): number {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
  try {
    return openSync(path, flags, privateFileMode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error
    rmSync(path)
    return openSync(path, flags, privateFileMode)
  }
}

function encode(bytes: Buffer, { version, size, modified }: Recorded): Buffer {
  bytes.write(magic, 0, 'latin1')
  bytes.writeDoubleLE(version, 8)
  bytes.writeDoubleLE(size, 16)
  bytes.writeDoubleLE(modified, 24)
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4)
  return bytes
}

function read(storeFile: string): Recorded | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(pathOf(storeFile))
  } catch {
    return undefined
  }
  if (bytes.length !== fileSize || bytes.toString('latin1', 0, 4) !== magic)
    return undefined
  if (bytes.readUInt32LE(4) !== crc32(bytes.subarray(8))) return undefined
  return {
    version: bytes.readDoubleLE(8),
    size: bytes.readDoubleLE(16),
    modified: bytes.readDoubleLE(24),
  }
}

/** Size and modification time of a closed store; undefined when there is a log, or no store. */
function statOfClosed(storeFile: string): Omit<Recorded, 'version'> | undefined {
  const log = statSync(`${storeFile}-wal`, { throwIfNoEntry: false })
  if (log !== undefined && log.size > 0) return undefined
  const found = statSync(storeFile, { throwIfNoEntry: false })
  return found && { size: found.size, modified: found.mtimeMs }
}

function isAsClosed(recorded: Recorded, found: Omit<Recorded, 'version'>): boolean {
  return recorded.size === found.size && recorded.modified === found.modified
}

/**
 * Version of a store; undefined when it cannot be read. Changes no file, except the shared memory
 * of a store with a log.
 */
export function storeVersion(storeFile: string): number | undefined {
  try {
    const database = isBeingWritten(storeFile)
      ? new DatabaseSync(storeFile, { readOnly: true })
      : openUnshared(storeFile)
    try {
      const sql = "SELECT value FROM meta WHERE name = 'version'"
      return Number(database.prepare(sql).get()?.['value'] ?? 0)
    } finally {
      database.close()
    }
  } catch {
    return undefined
  }
}
