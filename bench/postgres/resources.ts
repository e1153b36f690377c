/** Measures a server without requests: its time to start, and its CPU time while idle. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Participant } from './compared.ts'
import { statements, type Asked } from './requests.ts'
import type { Contestant } from './servers.ts'

/** Milliseconds from the start of a server until it has answered a request; stops it again. */
export async function firstAnswerMs(contestant: Contestant, asked: Asked): Promise<number> {
  const { findOne } = statements
  const request = [contestant.bytesOf(asked)]
  const startedAt = performance.now()
  const running = await contestant.start()
  try {
    const connected = await contestant.connect(running.port, 1, { findOne })
    await connected.drive({ next: () => request.pop(), forMs: Infinity })
    const ms = performance.now() - startedAt
    connected.close()
    return ms
  } finally {
    await running.stop()
  }
}

/** Milliseconds of CPU time per second of both servers, while neither has requests. */
export async function idleMsPerSecond(
  participants: readonly Participant[],
  seconds: number,
): Promise<number[]> {
  const spent = () => participants.map(({ running }) => running.tree.processorMs() ?? NaN)
  const before = spent()
  await sleep(seconds * 1000)
  return spent().map((ms, i) => (ms - before[i]!) / seconds)
}
