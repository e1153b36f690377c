/**
 * File operations that do not block the event loop, for schema changes of a running server. Other
 * threads, the start of a server and CLI commands use the synchronous counterparts.
 */
import { lstat } from 'node:fs/promises'
import type { Stats } from 'node:fs'

/**
 * File status of the entry at a path, without following links; undefined when nothing exists there.
 */
export async function findEntry(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
