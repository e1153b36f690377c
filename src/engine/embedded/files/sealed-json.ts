/**
 * Small JSON files with a checksum, replaced as a whole: after a crash a file holds its old
 * content or its new one.
 */
import { closeSync, fsyncSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { openAnew } from '../../private-files.ts'
import { syncFolder } from '../store/layout.ts'

/** `damaged`: the file is not what `writeSealed` wrote. */
export type Sealed<T> = { readonly content: T } | 'absent' | 'damaged'

/** Returns when the file is durable. */
export function writeSealed(path: string, content: object): void {
  const sealed = JSON.stringify({ checksum: checksumOf(content), content })
  const unfinished = path + unfinishedSuffix
  const handle = openAnew(unfinished)
  try {
    writeFileSync(handle, `${sealed}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(unfinished, path)
  syncFolder(dirname(path))
}

/** Throws only what the disk does, such as a missing permission. */
export function readSealed<T extends object>(path: string): Sealed<T> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    if (code === 'EISDIR') return 'damaged'
    throw error
  }
  try {
    const { checksum, content } = JSON.parse(text) as { checksum: number; content: T }
    return checksum === checksumOf(content) ? { content } : 'damaged'
  } catch {
    return 'damaged'
  }
}

const unfinishedSuffix = '.new'

function checksumOf(content: object): number {
  return crc32(JSON.stringify(content))
}
