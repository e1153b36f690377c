/**
 * `npm run hostile -- --generate`: runs episodes of hostile load from a seed, one after the other,
 * while well-behaved clients work. Several episodes share a server. The server is replaced after
 * `episodesPerServer` episodes, and after an episode that killed it or leaked memory.
 */
import type { ConnectOptions } from '../../cassandra/connect.ts'
import { seconds } from '../attack.ts'
import { Bystander, type Seen } from '../bystander.ts'
import { stallMsMax, turnMsMax } from '../measure.ts'
import { machineName, makeManyOperations } from '../operations.ts'
import { Arena } from './arena.ts'
import {
  describeEpisode,
  episodesPerServer,
  isTlsEpisode,
  makeEpisode,
  type Episode,
} from './episode.ts'
import { commandTo } from './load.ts'
import { keptMemoryMax } from '../settled-memory.ts'
import { measureEpisode, runEpisode, type EpisodeResult } from './run-episode.ts'
import { keyspace, targets } from './targets.ts'
import { Summary } from './summary.ts'

export interface GeneratorOptions {
  readonly seed: number
  readonly minutes: number
  /** If set, only the episode with this number runs. */
  readonly episode: number | undefined
  /** The cluster that keeps the data; undefined: the embedded engine keeps it. */
  readonly cluster: ConnectOptions | undefined
}

const idleSeconds = 5
const episodeOptions = { seconds: 4, requestsMax: Infinity, connectionsMax: Infinity }

const warmUp: Episode = {
  number: 0,
  parts: [
    {
      load: {
        says: 'finds on all collections and tables',
        requests: [...targets.collections, ...targets.tables].map((name) =>
          commandTo(`${keyspace}/${name}`, { find: { sort: { t: 1 } } }, 'reader'),
        ),
      },
      transport: 'HTTP/1.1',
      connections: 8,
      reads: true,
    },
  ],
  waits: true,
}

/**
 * Milliseconds between requests of a bystander. The pause is short, so that a stall cannot fall
 * between two requests.
 */
const restMs = 10

/** A cluster is slower, so it gets less data. */
const clusterScale = 0.1

/** Runs episodes; returns the number of episodes that exceeded a bound. */
export async function generate(
  options: GeneratorOptions,
  print: (line: string) => void,
): Promise<number> {
  const { seed, minutes, episode: only, cluster } = options
  const summary = new Summary()
  const end = performance.now() + minutes * 60_000
  const again = `npm run hostile -- --generate --seed ${seed}${cluster ? ' --engine cassandra' : ''}`
  print(`seed ${seed}, ${cluster ? 'Cassandra' : 'embedded engine'}`)
  let stage: Stage | undefined
  try {
    for (let number = only ?? 0; ; number++) {
      if (stage === undefined || number % episodesPerServer === 0) {
        await stage?.close()
        stage = await Stage.open(isTlsEpisode(number), cluster)
        summary.noteIdle(stage.idle)
      }
      const episode = makeEpisode(seed, number)
      print(`${number}: ${describeEpisode(episode)}`)
      const result = await stage.run(episode)
      const problems = problemsOf(stage, result)
      print(`   ${lineOf(stage, result)}`)
      for (const problem of problems) print(`   FAILED: ${problem}`)
      if (problems.length > 0) print(`   again: ${again} --episode ${number}`)
      if (!stage.isSound(result)) {
        await stage.close()
        stage = undefined
      }
      summary.note(number, result, problems)
      if (only !== undefined || performance.now() > end) break
    }
  } finally {
    await stage?.close()
  }
  for (const line of summary.lines()) print(line)
  return summary.failed
}

/** A server with the data of episodes, and its bystanders. */
class Stage {
  readonly arena: Arena
  readonly bystander: Bystander
  readonly idle: readonly Seen[]
  readonly memory: number

  private constructor(
    arena: Arena,
    bystander: Bystander,
    idle: readonly Seen[],
    memory: number,
  ) {
    this.arena = arena
    this.bystander = bystander
    this.idle = idle
    this.memory = memory
  }

  static async open(tls: boolean, cluster: ConnectOptions | undefined): Promise<Stage> {
    const arena = await Arena.open(
      { tls, ...(cluster && { cluster }) },
      cluster === undefined ? 1 : clusterScale,
    )
    const { server } = arena
    const bystander = await Bystander.start(
      server,
      restMs,
      await makeManyOperations(server),
    )
    await bystander.takeWhenAnswered()
    // The first use of threads, caches and stores takes memory. After the warm-up, this memory does
    // not count as a leak of the first episode.
    await runEpisode(arena, warmUp, { ...episodeOptions, requestsMax: 20 })
    await bystander.take()
    await seconds(idleSeconds)
    const idle = await bystander.take()
    await server.takeTurns(true)
    await seconds(1)
    return new Stage(arena, bystander, idle, server.usage()!.memory)
  }

  run(episode: Episode): Promise<EpisodeResult> {
    const goal = this.memory + keptMemoryMax
    return measureEpisode(this.arena, this.bystander, episode, episodeOptions, goal)
  }

  /**
   * Whether the server can be reused. It must be intact, because a later finding must be caused by
   * its own episode.
   */
  isSound({ turns, memory }: EpisodeResult): boolean {
    return turns !== undefined && (memory ?? Infinity) - this.memory <= keptMemoryMax
  }

  async close(): Promise<void> {
    await this.bystander.stop()
    await this.arena.server.stop()
  }
}

function problemsOf(stage: Stage, result: EpisodeResult): string[] {
  const { turns, memory, seen, complaints } = result
  if (turns === undefined || memory === undefined)
    return [`the server died: ${complaints.slice(-1_000)}`]
  const problems: string[] = []
  if (turns.longestMs > turnMsMax)
    problems.push(`a turn took ${turns.longestMs.toFixed(0)} ms of processor time`)
  if (memory - stage.memory > keptMemoryMax)
    problems.push(`${megabytes(stage.memory)} → ${megabytes(memory)} MB of memory`)
  const lateMs = seen.find(({ name }) => name === machineName)!.longestMs
  for (const [i, { name, longestMs, failed, firstFailure }] of seen.entries()) {
    const longer = longestMs - stage.idle[i]!.longestMs
    if (name !== machineName && longer > stallMsMax + lateMs)
      problems.push(`${name} waited ${longer.toFixed(0)} ms longer than on the idle server`)
    if (failed > 0)
      problems.push(`${name} failed ${failed} times: ${firstFailure.slice(0, 500)}`)
  }
  if (complaints !== '') problems.push(`the server complained: ${complaints.slice(0, 500)}`)
  return problems
}

function lineOf(
  stage: Stage,
  { counts, turns, memory, isCollected, seen }: EpisodeResult,
): string {
  const answers = [...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')
  const waits = seen
    .map(({ name, longestMs }) => `${name} ${longestMs.toFixed(0)}`)
    .join(', ')
  return [
    answers,
    `longest turn ${turns?.longestMs.toFixed(0) ?? '?'} ms`,
    `memory ${megabytes(stage.memory)} → ${memory === undefined ? '?' : megabytes(memory)} MB${isCollected ? ' once collected' : ''}`,
    `waits in ms: ${waits}`,
  ].join('; ')
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(0)
}
