/** Runs workloads and their baselines at all sizes. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyAnswer, FastifyQuestion } from './baselines/bare-fastify.ts'
import type { SqliteAnswer, SqliteQuestion } from './baselines/raw-sqlite.ts'
import { Client } from './client.ts'
import { copyFolder, prepareDataset, sizeOnDisk, storeIn } from './dataset.ts'
import { Picks } from './documents.ts'
import { Baseline, Stela, type Memory } from './processes.ts'
import { documentsIn, driving, Requests, sample } from './requests.ts'
import { ratePerSecond, takeTurns, type Contender, type Standing } from './turns.ts'
import type { Comparison, Workload } from './workloads/workload.ts'

export interface Settings {
  readonly workloads: readonly Workload[]
  /** Numbers of documents that are loaded before a workload starts. */
  readonly sizes: readonly number[]
  readonly connections: readonly number[]
  /** Seconds of measurement for each workload and each baseline. */
  readonly seconds: number
  readonly seed: number
  /** Folder that keeps loaded data for later runs. */
  readonly keepDir?: string | undefined
  /** Folder for the server's CPU profiles. */
  readonly profileDir?: string | undefined
  readonly progress: (line: string) => void
}

export interface Results {
  readonly rows: readonly Row[]
  readonly figures: readonly Figure[]
}

/** A workload compared with one baseline. */
export interface Row {
  readonly workload: Workload
  readonly size: number
  readonly connections: number
  readonly requestsPerSecond: number
  readonly documentsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly memory: Memory | undefined
  readonly baseline: string
  readonly baselineDocumentsPerSecond: number
  readonly baselineRequestsPerSecond: number
  readonly ratio: number
  readonly target: number | undefined
}

/** A single number in addition to the results of workloads, such as the size on disk. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly min?: number
  readonly max?: number
}

const startsMeasured = 3

export async function runBench(settings: Settings): Promise<Results> {
  const { workloads, sizes, connections, seconds, progress } = settings
  const folder = mkdtempSync(join(tmpdir(), 'stela-bench-'))
  const stages: Stage[] = []
  try {
    const figures: Figure[] = [await measureStart(folder)]
    for (const size of sizes) {
      const { stage, figures: more } = await setStage(size, folder, settings)
      stages.push(stage)
      figures.push(...more)
    }
    const rows: Row[] = []
    for (const workload of workloads)
      for (const count of connections) {
        progress(`${workload.name}, connections: ${count}`)
        rows.push(...(await measure(workload, count, stages, seconds)))
      }
    return { rows, figures: [...figures, ...growthOf(rows)] }
  } finally {
    for (const { server, fastify, sqlite } of stages)
      await Promise.all([server.stop(), fastify.stop(), sqlite.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureStart(folder: string): Promise<Figure> {
  const times: number[] = []
  for (let i = 0; i < startsMeasured; i++) {
    const server = await Stela.start(join(folder, `empty-${i}`))
    times.push(server.readyMs)
    await server.stop()
  }
  const value = times.sort((a, b) => a - b)[Math.floor(startsMeasured / 2)]!
  return { what: 'start to ready on an empty folder', value, unit: 'ms', max: 1000 }
}

/** The processes and the data of one size. */
interface Stage {
  readonly size: number
  readonly server: Stela
  readonly fastify: Baseline<FastifyQuestion, FastifyAnswer>
  readonly sqlite: Baseline<SqliteQuestion, SqliteAnswer>
  readonly picks: Picks
}

async function setStage(
  size: number,
  temporary: string,
  { seed, keepDir, profileDir, progress }: Settings,
): Promise<{ readonly stage: Stage; readonly figures: readonly Figure[] }> {
  if (keepDir !== undefined) mkdirSync(keepDir, { recursive: true })
  const { folder, loadMs } = await prepareDataset(
    keepDir ?? temporary,
    size,
    seed,
    progress,
  )
  const served = join(temporary, `served-${size}`)
  const raw = join(temporary, `raw-${size}`)
  copyFolder(folder, served)
  copyFolder(folder, raw)
  const stage: Stage = {
    size,
    server: await Stela.start(served, { profileDir }),
    fastify: new Baseline(new URL('baselines/bare-fastify.ts', import.meta.url)),
    sqlite: new Baseline(new URL('baselines/raw-sqlite.ts', import.meta.url)),
    picks: new Picks(seed, size),
  }
  await stage.sqlite.ask({ open: storeIn(raw), seed, size })
  return { stage, figures: dataFigures(folder, loadMs, size) }
}

/** The server or a baseline. */
interface Entrant extends Contender {
  readonly documentsPerRequest: number
  close(): void
}

/** The server and its baselines at one size. */
interface Match {
  readonly stage: Stage
  readonly subject: Entrant
  readonly others: readonly Entrant[]
}

async function measure(
  workload: Workload,
  connections: number,
  stages: readonly Stage[],
  seconds: number,
): Promise<Row[]> {
  const matches: Match[] = []
  try {
    for (const stage of stages) matches.push(await setMatch(workload, connections, stage))
    const entrants = matches.flatMap(({ subject, others }) => [subject, ...others])
    const standings = await takeTurns(entrants, seconds)
    return matches.flatMap(({ stage, others }) => {
      const own = standings.splice(0, 1 + others.length)
      return rowsOf(own, stage, workload, connections)
    })
  } finally {
    for (const { subject, others } of matches)
      for (const entrant of [subject, ...others]) entrant.close()
  }
}

async function setMatch(
  workload: Workload,
  connections: number,
  stage: Stage,
): Promise<Match> {
  const subject = await onStela(workload, connections, stage)
  const others: Entrant[] = []
  for (const comparison of workload.against)
    others.push(await baselineOf(comparison, subject, connections, stage))
  return { stage, subject, others }
}

function rowsOf(
  [subject, ...others]: readonly Standing<Entrant>[],
  stage: Stage,
  workload: Workload,
  connections: number,
): Row[] {
  const memory = stage.server.memory()
  const rate = ratesOf(subject!)
  return workload.against.map(({ target }, i): Row => {
    const baseline = ratesOf(others[i]!)
    return {
      workload,
      size: stage.size,
      connections,
      requestsPerSecond: rate.requests,
      documentsPerSecond: rate.documents,
      p50Ms: subject!.latencies.quantile(0.5),
      p99Ms: subject!.latencies.quantile(0.99),
      memory,
      baseline: others[i]!.contender.name,
      baselineRequestsPerSecond: baseline.requests,
      baselineDocumentsPerSecond: baseline.documents,
      ratio: rate.documents / baseline.documents,
      target,
    }
  })
}

function ratesOf(standing: Standing<Entrant>) {
  const requests = ratePerSecond(standing)
  return { requests, documents: requests * standing.contender.documentsPerRequest }
}

interface OnStela extends Entrant {
  readonly requests: Requests
  /** Replies of the server to the sample requests. */
  readonly replies: readonly string[]
}

async function onStela(
  workload: Workload,
  connections: number,
  { server, picks }: Pick<Stage, 'server' | 'picks'>,
): Promise<OnStela> {
  const requests = Requests.of(workload, picks)
  const replies = await sample(requests, server.port)
  const documents = replies.reduce((sum, reply) => sum + documentsIn(reply), 0)
  const connect = () => Client.connect(server.port, connections)
  return {
    ...driving(workload.says, requests, connections, connect),
    documentsPerRequest: documents / replies.length,
    requests,
    replies,
  }
}

async function baselineOf(
  comparison: Comparison,
  subject: OnStela,
  connections: number,
  stage: Stage,
): Promise<Entrant> {
  switch (comparison.to) {
    case 'fastify': {
      const { port } = await stage.fastify.ask({ replies: subject.replies })
      let client: Client | undefined
      return {
        name: 'bare Fastify',
        documentsPerRequest: subject.documentsPerRequest,
        async run(forMs, latencies) {
          client ??= await Client.connect(port, connections)
          return client.drive({ next: () => subject.requests.next(), forMs, latencies })
        },
        close: () => client?.close(),
      }
    }
    case 'sqlite': {
      const { write } = comparison
      return {
        name: 'raw node:sqlite',
        documentsPerRequest: write === 'insert 100' ? 100 : 1,
        run: (forMs) => stage.sqlite.ask({ write, forMs }),
        close: () => undefined,
      }
    }
    case 'workload':
      return onStela(comparison.workload, connections, stage)
  }
}

function dataFigures(folder: string, loadMs: number | undefined, size: number): Figure[] {
  const bytes = sizeOnDisk(folder)
  const figures: Figure[] = [
    { what: `size of ${size} documents on disk`, value: bytes, unit: 'bytes' },
    { what: 'the same, per document', value: bytes / size, unit: 'bytes/document' },
  ]
  if (loadMs !== undefined)
    figures.unshift({
      what: `loading ${size} documents by insertMany`,
      value: (size / loadMs) * 1000,
      unit: 'documents/s',
    })
  return figures
}

/** Growth of the time per request from the smallest size to each larger size. */
function growthOf(rows: readonly Row[]): Figure[] {
  const figures: Figure[] = []
  for (const large of rows) {
    const { growthMax } = large.workload
    const sameButSize = rows.filter(
      (row) => row.workload === large.workload && row.connections === large.connections,
    )
    const small = sameButSize.reduce((least, row) => (row.size < least.size ? row : least))
    if (growthMax === undefined || small.size === large.size) continue
    figures.push({
      what:
        `${large.workload.says}, connections: ${large.connections}: time with ` +
        `${large.size} documents over time with ${small.size}`,
      value: small.requestsPerSecond / large.requestsPerSecond,
      unit: 'times',
      // `growthMax` applies to ten times the size, so it is scaled to the actual growth of the
      // size.
      max: growthMax ** Math.log10(large.size / small.size),
    })
  }
  return figures
}
