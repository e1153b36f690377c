/**
 * Compares two versions of the server by CPU time per request.
 *
 * Other load of the machine affects rates, but hardly CPU time. Remaining disturbances, such as
 * those of caches and clock rates, affect both versions alike if turns are short. Therefore the
 * servers run equal numbers of requests in turns, and the median of the ratios counts. JIT
 * decisions differ between processes and change CPU times by some percent, so both servers are
 * started several times.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from './client.ts'
import { copyFolder, prepareDataset } from './dataset.ts'
import { Picks } from './documents.ts'
import { Stela } from './processes.ts'
import { Requests, sample } from './requests.ts'
import type { Workload } from './workloads/workload.ts'

export interface VersionSettings {
  readonly workloads: readonly Workload[]
  readonly sizes: readonly number[]
  readonly connections: readonly number[]
  /** CPU seconds per workload, version and start. The warm-up takes the same time. */
  readonly seconds: number
  readonly seed: number
  /** Source folder of the version to compare with. */
  readonly against: string
  /** Number of starts of both servers. */
  readonly starts: number
  /** Turns of each version per start. */
  readonly rounds: number
  readonly progress: (line: string) => void
}

/** Results of a workload on both versions. */
export interface VersionRow {
  readonly workload: Workload
  readonly size: number
  readonly connections: number
  /** Microseconds of CPU time per request: medians of the rounds. */
  readonly nowUs: number
  readonly beforeUs: number
  /**
   * CPU time of the other version divided by the CPU time of this version: the median over the
   * rounds, with its 95 % interval.
   */
  readonly ratio: number
  readonly low: number
  readonly high: number
  /** The ratio of the total CPU times of all rounds. Unlike the median, it includes rare work. */
  readonly whole: number
  readonly rounds: number
}

export async function compareVersions(
  settings: VersionSettings,
): Promise<readonly VersionRow[]> {
  const { workloads, sizes, connections, against, seed, progress } = settings
  const folder = mkdtempSync(join(tmpdir(), 'stela-bench-'))
  try {
    const rows: VersionRow[] = []
    for (const size of sizes) {
      const versions: Version[] = []
      for (const [name, checkout] of [
        ['now', undefined],
        ['before', against],
      ] as const) {
        const parent = join(folder, name)
        mkdirSync(parent, { recursive: true })
        // Each version loads its own documents, because folder formats may differ.
        const options = { checkout }
        const loaded = await prepareDataset(parent, size, seed, progress, options)
        versions.push({ name, checkout, size, folder: loaded.folder })
      }
      for (const workload of workloads)
        for (const count of connections) {
          progress(`${workload.name}, documents: ${size}, connections: ${count}`)
          const row = await compare(workload, versions, count, settings)
          progress(`before / now: ${row.ratio.toFixed(3)}`)
          rows.push(row)
        }
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Version {
  readonly name: string
  readonly checkout: string | undefined
  readonly size: number
  /** Folder with the loaded documents, which is copied for each start. */
  readonly folder: string
}

/** CPU time and requests of a turn. */
interface Turn {
  readonly ms: number
  readonly requests: number
}

type Round = readonly [now: Turn, before: Turn]

async function compare(
  workload: Workload,
  versions: readonly Version[],
  connections: number,
  settings: VersionSettings,
): Promise<VersionRow> {
  const { starts } = settings
  const rounds: Round[] = []
  for (let start = 0; start < starts; start++) {
    const players: Player[] = []
    try {
      for (const version of versions)
        players.push(await Player.start(version, workload, connections, settings))
      rounds.push(...(await play(players as [Player, Player], settings)))
    } finally {
      for (const player of players) await player.stop()
    }
  }
  const ratios = rounds.map(([now, before]) => costOf(before) / costOf(now)).sort(ascending)
  const [low, high] = medianBounds(rounds.length)
  return {
    ...{ workload, size: versions[0]!.size, connections, rounds: rounds.length },
    nowUs: median(rounds.map(([now]) => costOf(now)).sort(ascending)),
    beforeUs: median(rounds.map(([, before]) => costOf(before)).sort(ascending)),
    ratio: median(ratios),
    low: ratios[low]!,
    high: ratios[high]!,
    whole:
      costOf(total(rounds.map(([, before]) => before))) /
      costOf(total(rounds.map(([now]) => now))),
  }
}

async function play(
  [now, before]: readonly [Player, Player],
  { seconds, rounds }: VersionSettings,
): Promise<Round[]> {
  await before.warmUp(seconds * 1000)
  const costMs = await now.warmUp(seconds * 1000)
  const count = Math.max(1, Math.round((seconds * 1000) / rounds / costMs))
  for (let i = 0; i < rounds; i++)
    // The order alternates, because the player that runs first affects the caches of the other
    // player.
    for (const player of i % 2 === 0 ? [now, before] : [before, now])
      await player.turn(count)
  const [ours, theirs] = [await now.turns(), await before.turns()]
  return ours.map((turn, i) => [turn, theirs[i]!])
}

/** A server of one version and its client. */
class Player {
  readonly #server: Stela
  readonly #folder: string
  readonly #requests: Requests
  readonly #client: Client
  /** The number of requests of each turn, and the server's CPU time before the turn. */
  readonly #begun: Turn[] = []

  private constructor(server: Stela, folder: string, requests: Requests, client: Client) {
    this.#server = server
    this.#folder = folder
    this.#requests = requests
    this.#client = client
  }

  static async start(
    { name, checkout, size, folder }: Version,
    workload: Workload,
    connections: number,
    { seed }: VersionSettings,
  ): Promise<Player> {
    const served = join(folder, '..', `served-${name}`)
    copyFolder(folder, served)
    const server = await Stela.start(served, { checkout })
    const requests = Requests.of(workload, new Picks(seed, size))
    await sample(requests, server.port)
    const client = await Client.connect(server.port, connections)
    return new Player(server, served, requests, client)
  }

  /**
   * Sends requests until the server has used this CPU time. Returns the milliseconds of CPU time
   * per request, which determine the number of requests per turn.
   */
  async warmUp(processorMs: number): Promise<number> {
    let costMs = partMs
    for (let left = processorMs; left > 0; left -= partMs) {
      const count = Math.ceil(partMs / costMs)
      const before = this.#server.processorMs()!
      await this.#ask(count)
      costMs = (this.#server.processorMs()! - before) / count
    }
    return costMs
  }

  async turn(count: number): Promise<void> {
    this.#begun.push({ ms: this.#server.processorMs()!, requests: count })
    await this.#ask(count)
  }

  async #ask(count: number): Promise<void> {
    this.#requests.prepare(count)
    let left = count
    const next = () => (left-- > 0 ? this.#requests.next() : undefined)
    await this.#client.drive({ next, forMs: Infinity })
  }

  /**
   * Number of requests and CPU time of each turn. Background work after a turn, such as merges,
   * counts for this turn.
   */
  async turns(): Promise<readonly Turn[]> {
    await this.#server.settle()
    const endMs = this.#server.processorMs()!
    return this.#begun.map(({ ms, requests }, i) => ({
      ms: (this.#begun[i + 1]?.ms ?? endMs) - ms,
      requests,
    }))
  }

  async stop(): Promise<void> {
    this.#client.close()
    await this.#server.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Milliseconds of CPU time between two measurements. */
const partMs = 100

/** CPU time per request in microseconds. */
function costOf({ ms, requests }: Turn): number {
  return (ms * 1000) / requests
}

function total(turns: readonly Turn[]): Turn {
  return {
    ms: turns.reduce((sum, { ms }) => sum + ms, 0),
    requests: turns.reduce((sum, { requests }) => sum + requests, 0),
  }
}

function ascending(a: number, b: number): number {
  return a - b
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}

/** Ranks of `count` values between which the median lies with a probability of 95 %. */
function medianBounds(count: number): readonly [low: number, high: number] {
  const low = Math.max(0, Math.floor((count - 1.96 * Math.sqrt(count)) / 2) - 1)
  return [low, count - 1 - low]
}
