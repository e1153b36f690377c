/**
 * Rejected records: reported on standard error, and written unchanged to a file.
 */
import {
  closeSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  writeSync,
} from 'node:fs'
import { privateFileMode } from '../../engine/private-files.ts'
import { CommandFailure, fileFailure } from './failure.ts'
import type { Format, RawRecord } from './split.ts'

const reportedMax = 20

export class Rejects {
  readonly #path: string | undefined
  readonly #format: Format
  readonly #tell: (line: string) => void
  /** The header of a CSV input. The rejects file starts with it. */
  header: Buffer | undefined
  #file: number | undefined
  #size: number
  #reported = 0
  #lost = 0

  /** `size`: number of bytes that an earlier run wrote to the file. These bytes are kept. */
  constructor(
    path: string | undefined,
    format: Format,
    size: number,
    tell: (line: string) => void,
  ) {
    this.#path = path
    this.#format = format
    this.#size = size
    this.#tell = tell
  }

  get size(): number {
    return this.#size
  }

  /**
   * Number of rejected records that no file contains: they are too long or empty, or no path was
   * given.
   */
  get lost(): number {
    return this.#lost
  }

  add({ line, bytes }: RawRecord, reason: string): void {
    this.#reported++
    if (this.#reported <= reportedMax) this.#tell(`line ${line}: ${reason}`)
    if (this.#reported === reportedMax + 1)
      this.#tell('further rejected records are not shown')
    const kept = this.#format === 'json' ? onOneLine(bytes) : bytes
    if (this.#path === undefined || kept.length === 0) {
      this.#lost++
      return
    }
    try {
      this.#file ??= this.#open(this.#path)
      if (this.#size === 0 && this.header !== undefined)
        this.#write(this.#file, this.header)
      this.#write(this.#file, kept)
    } catch (error) {
      throw fileFailure(error)
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
  }

  #open(path: string): number {
    const file = openSync(path, this.#size === 0 ? 'w' : 'r+', privateFileMode)
    // Devices and pipes cannot be truncated.
    if (fstatSync(file).isFile()) {
      this.#makePrivate(file, path)
      ftruncateSync(file, this.#size)
    }
    return file
  }

  /** Removes other users' access, because an existing file may grant it. */
  #makePrivate(file: number, path: string): void {
    try {
      fchmodSync(file, privateFileMode)
    } catch {
      this.#tell(`other users may be able to read ${path}: it belongs to another user`)
    }
  }

  #write(file: number, bytes: Buffer): void {
    const line = Buffer.concat([bytes, Buffer.from('\n')])
    let written = 0
    while (written < line.length)
      written += writeSync(file, line, written, line.length - written, this.#size + written)
    this.#size += line.length
  }
}

/**
 * JSON text without line breaks. JSON strings cannot contain line breaks, so each of them is white
 * space between tokens.
 */
function onOneLine(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes
      .toString('latin1')
      .replace(/[\r\n]+/g, ' ')
      .trim(),
    'latin1',
  )
}

/** Throws when the rejects file would overwrite the input. */
export function checkRejectsPath(path: string, input: string): void {
  if (path === input)
    throw new CommandFailure('--rejects is the input file. Choose another file.')
}
