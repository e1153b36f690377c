/**
 * Small JSON files with a checksum, replaced as a whole: after a crash, a file has its old or its
 * new content.
 */
import { readFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { privateFileMode } from '../../private-files.ts'
import { syncFolderAsync } from '../../../runtime/sync-folder.ts'

/** `damaged`: `writeSealed` did not write the file, or its content was changed. */
export type Sealed<T> = { readonly content: T } | 'absent' | 'damaged'

/** Writes a file. Resolves when it is durable. Calls for one path must not overlap. */
export async function writeSealed(path: string, content: object): Promise<void> {
  const sealed = JSON.stringify({ checksum: checksumOf(content), content })
  const unfinished = path + unfinishedSuffix
  // A file left by an earlier run may be a link, or belong to another user.
  await rm(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', privateFileMode)
  try {
    await handle.writeFile(`${sealed}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, path)
  await syncFolderAsync(dirname(path))
}

/** Reads a file. Throws only I/O errors, such as a missing permission. */
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
