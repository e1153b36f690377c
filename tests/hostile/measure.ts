/** Measures one attack: its effect on other clients, and its cost for the server. */
import type { ConnectOptions } from '../cassandra/connect.ts'
import type { Answers, Attack } from './attack.ts'
import { seconds } from './attack.ts'
import { Bystander, type Seen } from './bystander.ts'
import { HostileServer } from './hostile-server.ts'
import { keptMemoryMax, settledMemory } from './settled-memory.ts'

export interface Measured {
  readonly idle: readonly Seen[]
  readonly during: readonly Seen[]
  readonly answers: Answers
  readonly cpuSeconds: number
  /** Memory in bytes: idle before the attack, the peak, and at rest after the attack. */
  readonly memory: { readonly idle: number; readonly most: number; readonly after: number }
  /** Processor time of the longest turn of the event loop, in milliseconds. */
  readonly longestTurnMs: number
  readonly isAlive: boolean
  readonly complaints: string
}

/** Maximum milliseconds that another client may wait longer than on the idle server. */
export const stallMsMax = 200

/** Milliseconds of processor time that one turn of the event loop may take. */
export const turnMsMax = 100

/**
 * Bytes that an attack may add to the idle memory of the server. A principal may hold up to three
 * times the free amount. This is three quarters of the memory for bodies (500 MB), replies (500 MB)
 * and parsed values (400 MB).
 */
export const memoryMax = 0.75 * (500 + 500 + 400) * 1_000_000

/** Seconds for which the server is observed before the attack, and after it. */
const idleSeconds = 5
const afterSeconds = 2
const holdSeconds = 20

/**
 * Milliseconds between requests of a bystander. The pause is short, so that a stall cannot fall
 * between two requests.
 */
const restMs = 5

/**
 * Measures an attack on a separate server. With `cluster`, the server keeps its data in the cluster
 * instead of in the embedded engine.
 */
export async function measure(
  attack: Attack,
  cluster: ConnectOptions | undefined,
): Promise<Measured> {
  const server = await HostileServer.start({
    ...attack.server,
    ...(cluster && { cluster }),
  })
  try {
    await attack.prepare?.(server)
    const bystander = await Bystander.start(server, restMs)
    try {
      await seconds(1)
      await bystander.take()
      await seconds(idleSeconds)
      const idle = await bystander.take()
      server.forgetPeak()
      await server.takeTurns()
      const before = server.usage()!
      const answers = await attack.run(server, { holdSeconds })
      await seconds(afterSeconds)
      const during = await bystander.take()
      const after = server.usage()
      const longestTurnMs = server.isAlive ? (await server.takeTurns()).longestMs : NaN
      const settled = await settledMemory(server, before.memory + keptMemoryMax)
      return {
        idle,
        during,
        answers,
        cpuSeconds: (after?.cpuSeconds ?? NaN) - before.cpuSeconds,
        memory: {
          idle: before.memory,
          most: after?.peak ?? NaN,
          after: settled.bytes ?? NaN,
        },
        longestTurnMs,
        isAlive: server.isAlive,
        complaints: server.complaints,
      }
    } finally {
      await bystander.stop()
    }
  } finally {
    await server.stop()
  }
}

/** Descriptions of the measured values that exceed a bound. */
export function problemsOf(measured: Measured): readonly string[] {
  const { idle, during, memory, longestTurnMs, isAlive, complaints } = measured
  if (!isAlive) return ['the server died']
  const problems: string[] = []
  for (const [i, { name, longestMs, failed }] of during.entries()) {
    const longer = longestMs - idle[i]!.longestMs
    if (longer > stallMsMax)
      problems.push(`${name} waited ${longer.toFixed(0)} ms longer than on the idle server`)
    if (failed > 0) problems.push(`${name} failed ${failed} times`)
  }
  if (longestTurnMs > turnMsMax)
    problems.push(`a turn took ${longestTurnMs.toFixed(0)} ms of processor time`)
  const more = memory.most - memory.idle
  if (more > memoryMax) problems.push(`it took ${megabytes(more)} MB more`)
  const kept = memory.after - memory.idle
  if (kept > keptMemoryMax) problems.push(`it kept ${megabytes(kept)} MB`)
  if (complaints !== '') problems.push(`it complained: ${complaints.slice(0, 500)}`)
  return problems
}

/** A row of the table. It shows the waits on the idle server, then those during the attack. */
export function rowOf({ request }: Attack, measured: Measured): string {
  const { idle, during, answers, cpuSeconds, memory, longestTurnMs, isAlive } = measured
  const waits = during.map(({ longestMs, answered, failed }, i) => {
    const waits = `${idle[i]!.longestMs.toFixed(0)} → ${longestMs.toFixed(0)} ms`
    return `${waits}, ${failed} of ${answered + failed} failed`
  })
  const counted = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ')
  const cost = isAlive
    ? [
        `${cpuSeconds.toFixed(1)} s`,
        `${longestTurnMs.toFixed(0)} ms`,
        `${[memory.idle, memory.most, memory.after].map(megabytes).join(' → ')} MB`,
      ]
    : ['the server died', '', '']
  return `| ${[request, counted, ...waits, ...cost].join(' | ')} |`
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
