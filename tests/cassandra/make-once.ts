/** Files and folders that take long to make and are then kept, for all processes to use. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** How often whoever makes a thing says that it is still at it. */
const beatMs = 1000

/** After this long without a word, whoever made it has died. */
const silenceMsMax = 20_000

/**
 * Has `make` write to the path that it is given, and moves the result to `path`, unless
 * something is there already. Of several processes one makes it, and the others wait. Whoever
 * dies on the way leaves a lock folder with what was half made, which the next one clears away.
 */
export async function makeOnce(
  path: string,
  make: (unfinished: string) => Promise<void>,
): Promise<void> {
  const lock = `${path}.lock`
  await mkdir(dirname(path), { recursive: true })
  while (!existsSync(path))
    if (await takeLock(lock)) await makeLocked(path, lock, make)
    else await sleep(200)
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock)
    return true
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
  const beatAt = await stat(lock).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  )
  if (Date.now() - beatAt > silenceMsMax) await clearAway(lock)
  return false
}

async function makeLocked(
  path: string,
  lock: string,
  make: (unfinished: string) => Promise<void>,
): Promise<void> {
  const beat = setInterval(() => {
    const now = new Date()
    utimes(lock, now, now).catch(() => undefined)
  }, beatMs)
  try {
    // Another process may have finished between our look and our lock.
    if (existsSync(path)) return
    const unfinished = join(lock, randomUUID())
    await make(unfinished)
    await rename(unfinished, path)
  } finally {
    clearInterval(beat)
    await clearAway(lock)
  }
}

/** Renamed first, so that a lock that another process takes meanwhile is left alone. */
async function clearAway(lock: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`
  try {
    await rename(lock, aside)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  await rm(aside, { recursive: true, force: true, maxRetries: 5 })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
