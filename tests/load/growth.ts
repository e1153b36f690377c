/** Detects growing memory in samples over time. */
import { megabytes, type Usage } from './loaded-server.ts'

export interface Sample extends Usage {
  /** Seconds since the start of the load. */
  readonly at: number
  readonly requests: number
}

/**
 * Tolerated growth after the warm-up. Some caches fill slowly, and the memory of the allocator
 * fluctuates.
 */
const shareMax = 0.05
const bytesMax = 20 * 2 ** 20

/** Minimum seconds of a conclusive run: each thread collects garbage only every few minutes. */
const secondsMin = 600

/**
 * Descriptions of resources that have grown too much. Empty if no resource has, or if the run was
 * too short.
 */
export function findGrowth(samples: readonly Sample[]): string[] {
  if ((samples.at(-1)?.at ?? 0) < secondsMin) return []
  const fifth = Math.floor(samples.length / 5)
  const early = samples.slice(fifth, 2 * fifth)
  const late = samples.slice(-fifth)
  const measures: Readonly<Record<string, (part: readonly Sample[]) => number>> = {
    memory: (part) => average(part.map(({ memory }) => memory)),
    // The minimum of a period is compared, because garbage makes the heap fluctuate.
    heap: (part) => Math.min(...part.map(({ heap }) => heap)),
  }
  return Object.entries(measures).flatMap(([name, measure]) => {
    const before = measure(early)
    const after = measure(late)
    return after > before * (1 + shareMax) + bytesMax
      ? [`${name} grew from ${megabytes(before)} MB to ${megabytes(after)} MB`]
      : []
  })
}

/** Growth in megabytes per hour over the last two thirds of the run, by least squares. */
export function slopeOf(samples: readonly Sample[]): number {
  const late = samples.slice(Math.floor(samples.length / 3))
  const meanAt = average(late.map(({ at }) => at))
  const meanMemory = average(late.map(({ memory }) => memory))
  let products = 0
  let squares = 0
  for (const { at, memory } of late) {
    products += (at - meanAt) * (memory - meanMemory)
    squares += (at - meanAt) ** 2
  }
  return squares === 0 ? 0 : ((products / squares) * 3_600) / 2 ** 20
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

/** One line per minute: the last sample of the minute, but with the smallest heap of the minute. */
export function* tableOf(samples: readonly Sample[]): Generator<string> {
  yield 'minute  requests  memory MB  heap MB  handles  files  WAL MB  folder MB'
  const minutes = Map.groupBy(samples, ({ at }) => Math.ceil(at / 60))
  for (const [minute, within] of minutes) {
    const last = within.at(-1)!
    const heap = Math.min(...within.map((sample) => sample.heap))
    yield [
      String(minute).padStart(6),
      String(last.requests).padStart(10),
      megabytes(last.memory).padStart(11),
      megabytes(heap).padStart(9),
      String(last.handles).padStart(9),
      String(last.files).padStart(7),
      megabytes(last.logs).padStart(8),
      megabytes(last.folder).padStart(11),
    ].join('')
  }
}
