/**
 * File operations that do not block the event loop, for schema changes of a running server. Other
 * threads, the start of a server and CLI commands use the synchronous counterparts.
 */
import { lstat, open } from 'node:fs/promises'
import type { Stats } from 'node:fs'

/** Makes a new or renamed entry of a folder durable. */
export async function syncFolderAsync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** File status of the entry at a path, without following links; undefined when nothing exists there. */
export async function findEntry(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
