/** Memory of a server at rest. */
import { setTimeout as pause } from 'node:timers/promises'
import type { HostileServer } from './hostile-server.ts'

/** Bytes by which an attack may increase the memory of the server permanently. */
export const keptMemoryMax = 100_000_000

export interface SettledMemory {
  /** Memory of the server; undefined: the process has ended. */
  readonly bytes: number | undefined
  /**
   * Whether the garbage of the request thread was collected before the measurement. V8 keeps
   * garbage while memory is not scarce.
   */
  readonly isCollected: boolean
}

/**
 * Waits until the server's memory falls to `goal`. If the memory stays above `goal`, makes the
 * server collect its garbage.
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

/** Milliseconds in which a server should return memory. V8 keeps free pages for 8 s. */
const restMsMax = 20_000
const restStepMs = 500
