/** The memory that a server takes when it has come to rest. */
import { setTimeout as pause } from 'node:timers/promises'
import type { HostileServer } from './hostile-server.ts'

/** Bytes that a server may take after an attack on top of what it took before. */
export const keptMemoryMax = 100_000_000

export interface SettledMemory {
  /** Bytes; undefined: the server is gone. */
  readonly bytes: number | undefined
  /**
   * Whether garbage of the answering thread was collected first: V8 keeps it while there is no
   * need for its memory.
   */
  readonly isCollected: boolean
}

/** Waits until it takes no more than `goal`, and collects garbage where it takes more. */
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

/** A server that takes more memory than it may is given so long to return it. */
const restMsMax = 5_000
const restStepMs = 500
