/**
 * File operations that do not block the event loop, for schema changes of a server that runs.
 * Their synchronous counterparts are for other threads, the start of a server and commands of the
 * CLI.
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

/** What stands at a path, links not followed; undefined: nothing. */
export async function findEntry(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
