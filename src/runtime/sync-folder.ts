import { open } from 'node:fs/promises'

/** Makes added and renamed entries of a folder durable, without blocking the event loop. */
export async function syncFolderAsync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
