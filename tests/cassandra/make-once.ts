/** Creates expensive files and folders once and keeps them for all processes. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Interval at which the creating process renews its lock, in milliseconds. */
const beatMs = 1000

/** A lock that was not renewed for this long belongs to a dead process. */
const silenceMsMax = 20_000

/**
 * Calls `make` with a temporary path and moves the result to `path`, unless `path` exists. If
 * several processes call this at the same time, one calls `make`, and the others wait. A process
 * that dies leaves a lock folder with the partial result, which the next process removes.
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
    // Another process may have created the result between the check and the lock.
    if (existsSync(path)) return
    const unfinished = join(lock, randomUUID())
    await make(unfinished)
    await rename(unfinished, path)
  } finally {
    clearInterval(beat)
    await clearAway(lock)
  }
}

/**
 * Removes the lock. Renames it first, so that a lock that another process takes meanwhile is kept.
 */
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
