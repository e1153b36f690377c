/** Reads and inserts readings over HTTP, compared with SQLite alone. */
import { join } from 'node:path'
import type { RawTablesAnswer, RawTablesQuestion } from '../baselines/raw-tables.ts'
import { Client, requestBytes } from '../client.ts'
import { batchSize } from '../dataset.ts'
import { Baseline, token, type Stela } from '../processes.ts'
import type { Figure } from '../run.ts'
import { askEach, overHttp, startBareFastify } from '../served.ts'
import type { Findings, StudySettings } from '../workloads/study.ts'
import {
  compare,
  comparedCells,
  comparedHead,
  growthOf,
  type Closable,
  type Trial,
} from './compared.ts'
import { Readings, readingsTable } from './readings.ts'
import { insert, reads, type TableRequest } from './requests.ts'

export async function measureRows(
  server: Stela,
  settings: StudySettings,
): Promise<Findings> {
  const { connections, seconds, progress } = settings
  const raws = await startRaws(settings)
  const fastify = startBareFastify()
  try {
    const rows: string[][] = []
    const figures: Figure[] = []
    for (const request of reads) {
      progress(request.says)
      const trials: ReadTrial[] = []
      for (const raw of raws) trials.push(await readTrial(server, request, raw, settings))
      const { requests, replies } = trials.at(-1)!
      const bare = async (count: number) => {
        const { port } = await fastify.ask({ replies })
        return overHttp('bare Fastify', port, count, requests)
      }
      const comparison = {
        says: request.says,
        trials,
        bare: request.againstFastify ? bare : undefined,
      }
      const compared = await compare(comparison, connections, seconds)
      rows.push(...compared.flatMap(comparedCells))
      if (request.growthMax !== undefined)
        figures.push(...growthOf(compared, request.growthMax))
    }
    // Inserts are measured last, because they grow the table.
    progress(insert.says)
    const trials = [insertTrial(server, raws.at(-1)!, settings)]
    const inserted = await compare({ says: insert.says, trials }, connections, seconds)
    rows.push(...inserted.flatMap(comparedCells))
    return { tables: [{ title: 'Rows, over HTTP', head: comparedHead, rows }], figures }
  } finally {
    await Promise.all([fastify.stop(), ...raws.map(({ process }) => process.stop())])
  }
}

interface Raw {
  readonly size: number
  readonly process: Baseline<RawTablesQuestion, RawTablesAnswer>
}

async function startRaws({ sizes, seed, folder, progress }: StudySettings): Promise<Raw[]> {
  const raws: Raw[] = []
  for (const size of sizes) {
    progress(`filling a table of SQLite with ${size} rows`)
    const file = new URL('../baselines/raw-tables.ts', import.meta.url)
    const process = new Baseline<RawTablesQuestion, RawTablesAnswer>(file)
    await process.ask({ load: join(folder, `raw-${size}.db`), seed, size })
    raws.push({ size, process })
  }
  return raws
}

interface ReadTrial extends Trial {
  readonly requests: readonly Buffer[]
  /** Replies to the first requests. */
  readonly replies: readonly string[]
}

/** Number of distinct requests, which are repeated in rotation. */
const ringSize = 16_384
/** Number of replies that are parsed to verify that requests succeed. */
const sampleSize = 32

async function readTrial(
  { port }: Stela,
  request: TableRequest,
  raw: Raw,
  { seed }: StudySettings,
): Promise<ReadTrial> {
  const { size } = raw
  const readings = new Readings(seed, size)
  const requests = Array.from({ length: ringSize }, () =>
    requestBytes(pathOf(size), token, request.body(readings)),
  )
  const replies = await askEach(port, requests.slice(0, sampleSize))
  const found = replies.reduce((sum, reply) => sum + rowsIn(reply), 0)
  return {
    size,
    rowsPerRequest: found / replies.length,
    requests,
    replies,
    serve: (count) => overHttp('Stela', port, count, requests),
    raw: rawContender(raw, request),
  }
}

function insertTrial({ port }: Stela, raw: Raw, { seed }: StudySettings): Trial {
  // All connections share one sequence of readings, so that each reading is inserted only once.
  const readings = new Readings(seed, raw.size)
  return {
    size: raw.size,
    rowsPerRequest: batchSize,
    serve: (count) => inserting(port, raw.size, count, readings),
    raw: rawContender(raw, insert),
  }
}

async function inserting(
  port: number,
  size: number,
  connections: number,
  readings: Readings,
): Promise<Closable> {
  const client = await Client.connect(port, connections)
  let requestsPerMs = 1
  return {
    name: 'Stela',
    async run(forMs, latencies) {
      // Requests are created before the clock starts.
      const count = Math.ceil(requestsPerMs * forMs * 1.5) + connections
      const requests = Array.from({ length: count }, () =>
        requestBytes(pathOf(size), token, insert.body(readings)),
      )
      const next = () => requests.pop()
      const tally = await client.drive({ next, forMs, latencies })
      requestsPerMs = tally.requests / tally.elapsedMs
      return tally
    },
    close: () => client.close(),
  }
}

function rawContender({ process }: Raw, { kind }: TableRequest) {
  return {
    name: 'raw node:sqlite',
    run: (forMs: number) => process.ask({ run: kind, forMs }),
  }
}

function pathOf(size: number): string {
  return `/v1/default_keyspace/${readingsTable(size)}`
}

/**
 * Number of rows in a reply. Throws on a warning, because a warning means that no index was used.
 */
function rowsIn(text: string): number {
  const { data, status } = JSON.parse(text) as {
    data: { document?: object | null; documents?: readonly object[] }
    status: { warnings?: readonly object[] }
  }
  if (status.warnings !== undefined) throw new Error(`a request was warned of: ${text}`)
  return data.documents?.length ?? (data.document ? 1 : 0)
}
