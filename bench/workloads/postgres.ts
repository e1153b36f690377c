/** Documents in Stela, compared with the same documents in PostgreSQL's `jsonb`. */
import { join } from 'node:path'
import { createCollection, sizeOnDisk } from '../dataset.ts'
import { settle } from '../processes.ts'
import { compareAnswers } from '../postgres/answers.ts'
import { PostgresClient } from '../postgres/client.ts'
import { compareRequest, type Pair, type Participant } from '../postgres/compared.ts'
import { CustomerPicks } from '../postgres/documents.ts'
import { loadBoth } from '../postgres/load.ts'
import {
  comparedRequests,
  createCompound,
  createTable,
  dropCompound,
  type ComparedRequest,
} from '../postgres/requests.ts'
import { firstAnswerMs, idleMsPerSecond } from '../postgres/resources.ts'
import { findPostgres, missingPostgres } from '../postgres/server.ts'
import { postgresFrom, stelaIn, type Contestant } from '../postgres/servers.ts'
import {
  comparedCells,
  comparedHead,
  resourceCells,
  resourceHead,
} from '../postgres/report.ts'
import { whole } from '../report.ts'
import type { Findings, Study, StudySettings } from './study.ts'

const usualRounds = 5
const starts = 3
/** The servers are observed idle for this many times the seconds of a measurement. */
const idleTimes = 4
/** Stela's folder. */
const dataName = 'stela'
/** Requests of each kind whose answers are compared. */
const checkedRequests = 500
/** Number of the first document that a check inserts; measured inserts have smaller numbers. */
const checkedFrom = 500_000_000

export const postgres: Study = {
  name: 'postgres',
  says: 'documents, compared with PostgreSQL',
  size: 100_000,
  connections: [1, 16, 64],
  parts: comparedRequests.map(({ name }) => name),
  missing: () => (findPostgres() === undefined ? missingPostgres : undefined),

  async run(settings): Promise<Findings> {
    const { folder, profileDir, program, progress } = settings
    const installation = findPostgres()
    if (installation === undefined) throw new Error(missingPostgres)
    progress(`PostgreSQL ${installation.version}`)
    const stela = stelaIn(join(folder, dataName), { profileDir, program })
    const contestants = [stela, postgresFrom(installation)] as const
    try {
      const comparison = new Comparison(contestants, settings)
      return await comparison.run(installation.version)
    } finally {
      for (const contestant of contestants) contestant.remove()
    }
  },
}

class Comparison {
  readonly #contestants: Pair<Contestant>
  readonly #settings: StudySettings
  readonly #rounds: number
  readonly #requests: readonly ComparedRequest[]
  readonly #checkPicks: CustomerPicks
  readonly #resources: string[][] = []
  readonly #compared: string[][] = []
  #checked = 0

  constructor(contestants: Pair<Contestant>, settings: StudySettings) {
    const { parts, rounds = usualRounds, seed, size } = settings
    this.#contestants = contestants
    this.#settings = settings
    this.#rounds = rounds
    this.#requests = comparedRequests.filter(({ name }) => parts?.includes(name) ?? true)
    this.#checkPicks = new CustomerPicks(seed, size, checkedFrom)
  }

  async run(version: string): Promise<Findings> {
    const { size } = this.#settings
    await this.#during(0, (participants) => this.#load(participants))
    await this.#measureStarts()
    await this.#during(size, (participants) => this.#compare(participants))
    return {
      tables: [
        {
          title: `${whole(size)} documents, PostgreSQL ${version}`,
          head: comparedHead,
          rows: this.#compared,
        },
        { title: 'Loading and resources', head: resourceHead, rows: this.#resources },
      ],
      figures: [
        {
          what: 'requests that both servers answered alike',
          value: this.#checked,
          unit: 'requests',
        },
      ],
    }
  }

  /** Starts both servers, and stops them at the end. `next` is the number of the next document. */
  async #during(next: number, work: (participants: Pair) => Promise<void>): Promise<void> {
    const { seed, size } = this.#settings
    const participants: Participant[] = []
    try {
      for (const contestant of this.#contestants) {
        const running = await contestant.start()
        const picks = new CustomerPicks(seed, size, next)
        participants.push({ contestant, running, picks })
      }
      await work(participants as [Participant, Participant])
    } finally {
      for (const { running } of participants) await running.stop()
    }
  }

  async #load(participants: Pair): Promise<void> {
    const [{ running: stela }, { running: postgres }] = participants
    const { folder, size, seconds, progress } = this.#settings
    await this.#settle(participants)
    this.#addMemory('after start, without documents', participants)
    await createCollection(stela.port, 'documents')
    await execute(postgres.port, createTable)
    const [ours, theirs] = await loadBoth(size, participants, this.#rounds, progress)
    const loading = 'loading by batches of 100'
    const rates = [ours.documentsPerSecond, theirs.documentsPerSecond] as const
    this.#add(loading, 'documents/s', ...rates)
    const costs = [ours.processorMs * 1000, theirs.processorMs * 1000] as const
    this.#add(loading, 'CPU µs/document', ...costs)
    // Updates statistics, which autovacuum does within a minute.
    await execute(postgres.port, ['VACUUM ANALYZE documents'])
    await this.#settle(participants)
    this.#addMemory('after loading', participants)
    progress('idle')
    const [idle, theirIdle] = await idleMsPerSecond(participants, idleTimes * seconds)
    this.#add('idle, with documents', 'CPU ms/s', idle!, theirIdle!)
    const sizeOfTable = "SELECT pg_total_relation_size('documents')"
    const bytes = Number((await execute(postgres.port, [sizeOfTable]))[0]![0])
    const ourBytes = sizeOnDisk(join(folder, dataName))
    this.#add('size on disk with indexes', 'bytes/document', ourBytes / size, bytes / size)
  }

  async #measureStarts(): Promise<void> {
    const { progress } = this.#settings
    progress('starts')
    const asked = comparedRequests[0]!.make(this.#checkPicks)
    const times: [number[], number[]] = [[], []]
    for (let i = 0; i < starts; i++)
      for (const [at, contestant] of this.#contestants.entries())
        times[at]!.push(await firstAnswerMs(contestant, asked))
    const [ours, theirs] = times.map(
      (some) => some.toSorted((a, b) => a - b)[Math.floor(starts / 2)]!,
    )
    this.#add('start to first answer, with documents', 'ms', ours!, theirs!)
  }

  async #compare(participants: Pair): Promise<void> {
    const { port } = participants[1].running
    const isRead = ({ answer }: ComparedRequest) => answer !== 'one write'
    const reads = this.#requests.filter(isRead)
    await this.#measureAll(reads, 'single', participants)
    const gaining = reads.filter(({ usesCompound }) => usesCompound)
    if (gaining.length > 0) {
      await execute(port, createCompound)
      await this.#settle(participants)
      await this.#measureAll(gaining, 'compound', participants)
      await execute(port, dropCompound)
    }
    // Writes come last, because they change the documents, and with the fewest indexes to maintain.
    const writes = this.#requests.filter((request) => !isRead(request))
    await this.#measureAll(writes, 'single', participants)
  }

  async #measureAll(
    requests: readonly ComparedRequest[],
    indexes: 'single' | 'compound',
    participants: Pair,
  ): Promise<void> {
    const { connections, seconds, size, progress } = this.#settings
    const [stela, postgres] = participants.map(({ running }) => running.port)
    const ports = { stela: stela!, postgres: postgres! }
    const checks = Math.min(checkedRequests, size)
    for (const request of requests) {
      await compareAnswers(request, checks, this.#checkPicks, ports)
      this.#checked += checks
      for (const count of connections) {
        progress(`${request.name}, connections: ${count}, PostgreSQL's indexes: ${indexes}`)
        const compared = await compareRequest(
          request,
          count,
          participants,
          seconds,
          this.#rounds,
        )
        const cells = comparedCells(request.says, indexes, count, compared)
        progress(cells.join(', '))
        this.#compared.push(cells)
      }
    }
  }

  #addMemory(when: string, [stela, postgres]: Pair): void {
    const megabytes = ({ running }: Participant) => (running.tree.memory() ?? NaN) / 1e6
    this.#add(`memory ${when}`, 'MB', megabytes(stela), megabytes(postgres))
  }

  #add(what: string, unit: string, ours: number, theirs: number): void {
    const cells = resourceCells(what, unit, ours, theirs)
    this.#settings.progress(cells.join(', '))
    this.#resources.push(cells)
  }

  async #settle(participants: Pair): Promise<void> {
    for (const { running } of participants) await settle(running.tree.processorMs)
  }
}

/** Executes SQL texts on PostgreSQL, and returns the rows of the last. */
async function execute(port: number, texts: readonly string[]): Promise<string[][]> {
  const client = await PostgresClient.connect(port, 1)
  try {
    let rows: string[][] = []
    for (const sql of texts) rows = await client.query(sql)
    return rows
  } finally {
    client.close()
  }
}
