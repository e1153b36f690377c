/** Memory of a server at rest. */
import { setTimeout as pause } from 'node:timers/promises'
import type { HostileServer } from './hostile-server.ts'

/** Bytes that a server may keep after an attack in addition to its memory before. */
export const keptMemoryMax = 100_000_000

export interface SettledMemory {
  /** Memory of the server; undefined: the process has ended. */
  readonly bytes: number | undefined
  /**
   * Whether garbage of the request thread was collected first. V8 keeps garbage while memory is not
   * scarce.
   */
  readonly isCollected: boolean
}

/**
 * Waits until the server's memory falls to `goal`; makes the server collect its garbage if
 * the memory stays above `goal`.
 */
export async function settledMemory(
  server: HostileServer,
  goal: number,
): Promise<SettledMemory> {
  let bytes = server.usage()?.memory
  for (
    let ms = 0;
    ms < restMsMax && bytes !== undefined && bytes > goal;
    ms += restStepMs
  ) {
    await pause(restStepMs)
    bytes = server.usage()?.memory
  }
  if (bytes === undefined || bytes <= goal) return { bytes, isCollected: false }
  await server.takeTurns(true)
  return { bytes: server.usage()?.memory, isCollected: true }
}

/** Maximum time in which a server above its bound should return memory: V8 keeps free pages for 8 s. */
const restMsMax = 20_000
const restStepMs = 500
