/**
 * Snapshots of vector indexes, beside their stores, so that opening an index does not rebuild it.
 * The store is authoritative: if a snapshot is missing, torn or of another state of the store, the
 * index is rebuilt.
 *
 *   vectors/snapshot.json     manifest of the snapshot; replaced atomically
 *   vectors/<name>.graph      the parts of one segment's memory, one after the other
 *
 * docs/internals/vector-index.md describes the bytes.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { CodeBits } from '../../../search/vector/code-width.ts'
import { Segment, type SegmentShape } from '../../../search/vector/segment.ts'
import { openReplacing } from '../../private-files.ts'
import { makeFolderIfAbsent } from '../store/folder-names.ts'
import { syncFolder } from '../store/layout.ts'

/**
 * Formats of snapshots with codes of 8 bits and with shorter ones. Increased with every change of
 * these files or of the memory layout of the kernel.
 */
const byteFormat = 2
const shortFormat = 3

const manifestFile = 'snapshot.json'
const segmentFile = /^\d+-\d+\.graph$/

interface Manifest {
  readonly format: number
  /** Bits per number of the codes, from format 3 on. */
  readonly bits?: CodeBits
  /** The write of the store up to which the snapshot is complete. */
  readonly version: number
  readonly dimension: number
  readonly metric: string
  readonly segments: readonly SavedSegment[]
  /** CRC-32 of the JSON of all other fields. */
  readonly crc: number
}

interface SavedSegment {
  readonly file: string
  readonly capacity: number
  readonly size: number
  readonly crc: number
}

export interface Snapshot {
  readonly version: number
  readonly segments: readonly Segment[]
}

/** Folder of an index's snapshot; the suffix distinguishes columns. */
export function snapshotFolder(storeFile: string, suffix: string): string {
  return join(dirname(storeFile), `vectors${suffix}`)
}

/**
 * Loads the snapshot of an index; undefined without a manifest. Throws when it cannot be used. The
 * codes may have another width than the shape.
 */
export function loadSnapshot(folder: string, shape: SegmentShape): Snapshot | undefined {
  if (!existsSync(join(folder, manifestFile))) return undefined
  const { crc, ...manifest } = readManifest(folder)
  if (
    (manifest.format !== byteFormat && manifest.format !== shortFormat) ||
    manifest.dimension !== shape.dimension ||
    manifest.metric !== shape.metric
  )
    throw new Error('it belongs to another index')
  // A single wrong digit of a capacity would misplace everything in a segment.
  if (crcOf(manifest) !== crc)
    throw new Error(`${manifestFile} does not match its checksum`)
  const { bits = 8 } = manifest
  const segments = manifest.segments.map((saved) => {
    if (!segmentFile.test(saved.file)) throw new Error(`it names the file ${saved.file}`)
    const path = join(folder, saved.file)
    return loadSegment(path, saved, { ...shape, bits, capacity: saved.capacity })
  })
  return { version: manifest.version, segments }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, manifestFile), 'utf8')) as Manifest
}

/**
 * The latest write in a snapshot; 0 without a readable manifest. Snapshots contain only committed
 * writes, so the store had this write.
 */
export function snapshotVersion(folder: string): number {
  try {
    const { crc, ...manifest } = readManifest(folder)
    return crcOf(manifest) === crc ? manifest.version : 0
  } catch {
    return 0
  }
}

function crcOf(manifest: Omit<Manifest, 'crc'>): number {
  return crc32(JSON.stringify(manifest))
}

function loadSegment(file: string, { size, crc }: SavedSegment, shape: SegmentShape) {
  const found = lstatSync(file)
  if (!found.isFile()) throw new Error(`${file} is not a file`)
  if (found.size !== size) throw new Error(`${file} has the wrong size`)
  const handle = openSync(file, 'r')
  try {
    let sum = 0
    const segment = Segment.restore(shape, (part) => {
      for (let at = 0; at < part.length;) {
        const chunk = part.subarray(at, at + chunkSize)
        const count = readSync(handle, chunk)
        if (count === 0) throw new Error(`${file} is truncated`)
        sum = crc32(chunk.subarray(0, count), sum)
        at += count
      }
    })
    if (sum !== crc) throw new Error(`${file} does not match its checksum`)
    if (segment === undefined) throw new Error(`${file} is inconsistent`)
    return segment
  } finally {
    closeSync(handle)
  }
}

/** Bytes that are read or written without a pause. */
const chunkSize = 4 * 1024 * 1024

/**
 * Saves segments, at least one, that are complete up to a write. Pauses between chunks, so that the thread can
 * serve requests. Meanwhile vectors may be added and removed, but not linked or repaired
 * (Segment.freeze).
 */
export async function saveSnapshot(
  folder: string,
  version: number,
  segments: readonly Segment[],
): Promise<void> {
  // A link is removed, because its target may belong to another program.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(folder)
  makeFolderIfAbsent(folder)
  const frozen = segments.map((segment) => ({ segment, parts: segment.freeze() }))
  try {
    const saved: SavedSegment[] = []
    for (const [i, { segment, parts }] of frozen.entries()) {
      const file = `${version}-${i}.graph`
      const path = join(folder, file)
      const written = await writeParts(path, parts).catch((error: unknown) => {
        // An incomplete snapshot is removed, because on a full disk other writes need the space.
        for (const { file: before } of saved) rmSync(join(folder, before), { force: true })
        rmSync(path, { force: true })
        throw error
      })
      saved.push({ file, capacity: segment.shape.capacity, ...written })
    }
    const { dimension, metric, bits } = segments[0]!.shape
    const manifest = {
      ...(bits === 8 ? { format: byteFormat } : { format: shortFormat, bits }),
      version,
      dimension,
      metric,
      segments: saved,
    }
    publish(folder, { ...manifest, crc: crcOf(manifest) })
  } finally {
    for (const { segment } of frozen) segment.thaw()
  }
}

async function writeParts(file: string, parts: readonly Uint8Array[]) {
  const handle = openReplacing(file)
  try {
    let crc = 0
    let size = 0
    const chunk = Buffer.alloc(chunkSize)
    for (const part of parts)
      for (let at = 0; at < part.length; at += chunkSize) {
        // The chunk is copied, so that the checksum matches the bytes that are written.
        const count = Math.min(chunkSize, part.length - at)
        chunk.set(part.subarray(at, at + count))
        const bytes = chunk.subarray(0, count)
        crc = crc32(bytes, crc)
        for (let done = 0; done < count;) done += writeSync(handle, bytes, done)
        size += count
        await setImmediate()
      }
    fsyncSync(handle)
    return { size, crc }
  } finally {
    closeSync(handle)
  }
}

function publish(folder: string, manifest: Manifest): void {
  const unfinished = join(folder, `${manifestFile}.new`)
  const handle = openReplacing(unfinished)
  try {
    writeFileSync(handle, JSON.stringify(manifest))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(unfinished, join(folder, manifestFile))
  syncFolder(folder)
  const current = new Set([manifestFile, ...manifest.segments.map(({ file }) => file)])
  for (const name of readdirSync(folder))
    if (!current.has(name)) rmSync(join(folder, name), { force: true })
}

export function dropSnapshot(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
